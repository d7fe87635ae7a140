// What a response body is: JSON when its content type says so, else text.
import type { Buffer } from 'node:buffer';
import { ActionError } from '../core/error.js';
import type { JsonValue } from '../core/json.js';
import { quote } from '../core/suggest.js';
import type { Masker } from '../process/masker.js';
import type { HttpResponse } from './http-exchange.js';

/** The body as a value; null when there is none. Throws ActionError (permanent): `not_utf8`, `not_json`. */
export function responseBody({ headers, body }: HttpResponse, masker: Masker): JsonValue {
  if (body.length === 0) return null;
  const given = String(headers['content-type'] ?? '');
  const type = given.toLowerCase();
  const shown = quote(masker.text(given));
  const text = decode(body, /charset="?([^";\s]+)/.exec(type)?.[1] ?? 'utf-8', shown);
  if (!/^(?:application|text)\/(?:[\w.+-]+\+)?json\b/.test(type)) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw fault('not_json', `the response says that it is JSON (${shown}) but is none; it begins ${quote(masker.text(text))}`);
  }
}

function decode(body: Buffer, charset: string, shown: string): string {
  let decoder: { decode(bytes: Uint8Array): string };
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch {
    throw fault('not_utf8', `the response body has an unknown charset: its content type is ${shown}`);
  }
  try {
    return decoder.decode(body);
  } catch {
    throw fault('not_utf8', `the response body holds bytes that do not fit its content type ${shown}, read as ${new TextDecoder(charset).encoding}; let a command fetch binary data into a file`);
  }
}

function fault(code: string, message: string): ActionError {
  return new ActionError({ class: 'permanent', code, message });
}
