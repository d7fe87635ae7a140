// The spellings in which programs print a secret: each is a pattern of the masker. Every spelling is made of the whole
// secret once, so their number does not grow with its length.
import { Buffer } from 'node:buffer';
import { addressForms, urlForms } from './url-forms.js';
import { secretParts } from './secret-parts.js';

// Shorter encoded pieces would cover ordinary text.
const SHORTEST_PIECE = 6;

/** The byte patterns that stand for some secrets. Empty secrets give none. */
export function secretForms(secrets: readonly string[]): Uint8Array[] {
  const forms = new Set<string>();
  const latin: Uint8Array[] = [];
  for (const secret of secrets) {
    for (const part of secretParts(secret)) {
      for (const form of spellings(part)) forms.add(form);
      // As a text in Latin-1 holds it, where no text in UTF-8 can hold the same bytes.
      if (/[\u00c0-\u00ff][\0-\u007f]|[\0-\u007f][\u0080-\u00bf]/.test(part) && !/[\u0100-\uffff]/.test(part)) latin.push(Buffer.from(part, 'latin1'));
    }
    if (secret === '') continue;
    for (const form of addressForms(secret.trim())) forms.add(form);
    for (const whole of new Set([secret, secret.trim()])) for (const form of encodings(whole)) forms.add(form);
  }
  forms.delete('');
  return [...[...forms].map((form) => Buffer.from(form, 'utf8')), ...latin];
}

function spellings(text: string): string[] {
  // Half a surrogate pair is none that an environment variable can hold, and no URI can spell it.
  const whole = Buffer.from(text, 'utf8').toString('utf8');
  return [text, ...jsonForms(text), ...shellForms(text), ...markupForms(text), ...misread(text), ...urlForms(whole)];
}

function jsonForms(text: string): string[] {
  const json = inner(text);
  const forms = [json];
  for (const digits of [(hex: string) => hex, (hex: string) => hex.toUpperCase()]) {
    const escape = (unit: string) => `\\u${digits(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`;
    for (const characters of [/[\u0080-\uffff]/g, /[<>&\u2028\u2029]/g, /[<>&'\u0080-\uffff]/g]) forms.push(json.replace(characters, escape));
  }
  // JSON inside a text of JSON.
  return forms.flatMap((form) => [form, form.replaceAll('/', '\\/'), inner(form)]);
}

function inner(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

// As `set -x` prints it; as `printf %q` does, in bash and elsewhere; as a double-quoted word; in $'…'.
function shellForms(text: string): string[] {
  const escaped = text.replace(/[\\'\n\r\t]/g, (char) => `\\${{ '\n': 'n', '\r': 'r', '\t': 't' }[char] ?? char}`);
  return [
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
    text.replace(/[ !"$&'()*,;<>?[\\\]^`{|}]/g, '\\$&'),
    text.replace(/[^\w/.,:=+@%^\u0080-\uffff-]/g, '\\$&'),
    text.replace(/["$`\\]/g, '\\$&'),
    escaped,
    octal(escaped),
    octal(text),
  ];
}

// Bytes that are no ASCII, as shells and tools write them in the C locale.
function octal(text: string): string {
  return text.replace(/[\u0080-\uffff]+/g, (run) => [...Buffer.from(run, 'utf8')].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''));
}

function markupForms(text: string): string[] {
  const named = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return [named, named.replaceAll('"', '&quot;'), ...["&#39;", '&#x27;', '&apos;', '&#039;'].map((quote) => named.replaceAll('"', '&quot;').replaceAll("'", quote)), named.replaceAll('"', '&#34;').replaceAll("'", '&#39;')];
}

// UTF-8 that was read as Latin-1, as node reads the headers of a response.
function misread(text: string): string[] {
  return /[\u0080-\uffff]/.test(text) ? [Buffer.from(text, 'utf8').toString('latin1')] : [];
}

function encodings(secret: string): string[] {
  const hex = Buffer.from(secret, 'utf8').toString('hex');
  return [...base64Forms(secret), ...(hex.length < SHORTEST_PIECE ? [] : [hex, hex.toUpperCase()])];
}

// A secret inside a longer text (user:secret) can begin at any of three places of a base64 group; only the
// characters that it decides alone are a pattern.
function base64Forms(secret: string): string[] {
  const forms: string[] = [];
  const bytes = Buffer.from(secret, 'utf8');
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64').replace(/=+$/, '');
    const complete = (shift + bytes.length) % 3 === 0;
    const piece = encoded.slice(shift === 0 ? 0 : shift + 1, complete ? undefined : -1);
    if (piece.length < SHORTEST_PIECE) continue;
    forms.push(piece);
    if (shift !== 0) continue;
    // The whole, with its last character and padding, so that nothing of it is left behind; and in lines, as `base64`
    // and `openssl` write it.
    forms.push(encoded, bytes.toString('base64'));
    for (const width of [76, 64]) for (const end of ['\n', '\r\n']) if (piece.length > width) forms.push(inLines(piece, width, end), inLines(bytes.toString('base64'), width, end));
  }
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

function inLines(text: string, width: number, end: string): string {
  return (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join(end);
}
