// Text of other origin on its way to a terminal: no character of it may be a command to the terminal.

// A sequence that begins with ESC or its one-byte form: CSI, OSC and other strings with their end, two-character ones.
const SEQUENCE =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;
const COLOUR = /^\u001b\[[0-9;:]*m$/;
// Control characters but tab and line end, and the marks that turn the direction of a text around.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const CONTROL_BUT_ESC = new RegExp(CONTROL.source.replace('\\u000b-\\u001f', '\\u000b-\\u001a\\u001c-\\u001f'), 'g');
const RESET = '\u001b[0m';

/**
 * Text without escape sequences; every other control character, but tab and line end, becomes `·`.
 * @param colour true keeps the sequences that only set colours
 */
export function safeText(text: string, colour = false): string {
  if (text.search(CONTROL) < 0) return text;
  const plain = text.replace(SEQUENCE, (sequence) => (colour && COLOUR.test(sequence) ? sequence : ''));
  return plain.replace(colour ? CONTROL_BUT_ESC : CONTROL, '·');
}

/** One line of a step's output: of a line that was drawn over itself with carriage returns, what was left to see. */
export function safeLine(line: string, colour = false): string {
  const drawn = line.includes('\r') ? (line.split('\r').findLast((part) => part !== '') ?? '') : line;
  const text = safeText(drawn.replaceAll('\n', ' '), colour);
  return text.includes('\u001b') ? text + RESET : text;
}

/** Text made one line, for a table or a message. */
export function oneLine(text: string, longest = 1000): string {
  const line = safeText(text).trim().replace(/\s*\n\s*/g, ' | ');
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

/** JSON text in one line, with the characters escaped that JSON allows raw and a terminal does not deserve. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
