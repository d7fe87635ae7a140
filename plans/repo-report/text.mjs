// Text of the reports: what comes from a repository is data, in every format.

// Characters that would change how the text around them reads: control characters and direction marks.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Makes unseen characters visible: a line end in a file name becomes "\n". */
export function visible(value) {
  return String(value).replace(UNSEEN, (char) => (char === '\n' ? '\\n' : char === '\t' ? '\\t' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`));
}

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text for HTML and SVG, in elements and in quoted attributes. */
export function html(value) {
  return visible(value).replace(/[&<>"']/g, (char) => ENTITIES[char]);
}

/** Text for Markdown: nothing in it is a mark, a link or a tag. */
export function markdown(value) {
  return visible(value).replace(/[&<>]/g, (char) => ENTITIES[char]).replace(/[\\`*_[\]|~]/g, (char) => `\\${char}`);
}

/** 1234567 → "1,234,567", alike on every machine. */
export function number(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** Bytes for people: "512 B", "18.4 KiB". */
export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = value;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

/** A part of a whole, in per cent. */
export function share(part, whole) {
  return whole === 0 ? '0 %' : `${((part / whole) * 100).toFixed(1)} %`;
}

/** "1 week", "2,000 weeks". */
export function plural(count, word) {
  return `${number(count)} ${word}${count === 1 ? '' : 's'}`;
}
