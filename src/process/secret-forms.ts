// The spellings in which programs print a secret: each is a pattern of the masker.
import { Buffer } from 'node:buffer';

// Shorter lines and encoded pieces would cover ordinary text (a brace, the word "id").
const SHORTEST_LINE = 4;
const SHORTEST_PIECE = 6;

/** The byte patterns that stand for some secrets. Empty secrets give none. */
export function secretForms(secrets: readonly string[]): Uint8Array[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret === '') continue;
    addSpellings(secret, forms);
    const lines = secret.split(/[\r\n]+/).map((line) => line.trim()).filter((line) => line !== '');
    for (const line of lines) if (lines.length === 1 || line.length >= SHORTEST_LINE) addSpellings(line, forms);
    addBase64(secret, forms);
    addBase64(secret.trim(), forms);
  }
  forms.delete('');
  return [...forms].map((form) => Buffer.from(form, 'utf8'));
}

function addSpellings(text: string, forms: Set<string>): void {
  forms.add(text);
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  for (const form of [json, ascii]) {
    forms.add(form);
    forms.add(form.replaceAll('/', '\\/'));
  }
  // As `set -x` prints it.
  if (text.includes("'")) forms.add(text.replaceAll("'", "'\\''"));
  for (const form of uriForms(text)) {
    forms.add(form);
    forms.add(form.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()));
  }
}

function uriForms(text: string): string[] {
  // encodeURI throws on half a surrogate pair, which no environment variable can hold.
  const whole = Buffer.from(text, 'utf8').toString('utf8');
  const component = encodeURIComponent(whole);
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  return [component, strict, encodeURI(whole), strict.replaceAll('%20', '+'), new URLSearchParams([['', whole]]).toString().slice(1), ...userinfo(whole)];
}

function userinfo(text: string): string[] {
  try {
    const url = new URL('http://host/');
    url.password = text;
    return [url.password];
  } catch {
    return [];
  }
}

// A secret inside a longer text (user:secret) can begin at any of three places of a base64 group; only the
// characters that it decides alone are a pattern.
function addBase64(secret: string, forms: Set<string>): void {
  const bytes = Buffer.from(secret, 'utf8');
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64').replace(/=+$/, '');
    const complete = (shift + bytes.length) % 3 === 0;
    const piece = encoded.slice(shift === 0 ? 0 : shift + 1, complete ? undefined : -1);
    if (piece.length < SHORTEST_PIECE) continue;
    forms.add(piece);
    forms.add(piece.replaceAll('+', '-').replaceAll('/', '_'));
    // The whole, with its last character and padding, so that nothing of it is left behind.
    if (shift !== 0) continue;
    for (const whole of [encoded, Buffer.from(bytes).toString('base64')]) {
      forms.add(whole);
      forms.add(whole.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
}
