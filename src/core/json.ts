// JSON values, their canonical text, and the digests made of it.
import { createHash } from 'node:crypto';

export { findNonJson } from './non-json.js';

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * Canonical JSON text: object keys sorted by code unit, no spaces, raw UTF-8.
 * Two values with the same canonical text are the same value. Iterative callers
 * need not worry about depth: plans are limited to a depth of 64.
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) {
    let text = '';
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const keys = Object.keys(value);
  // Most objects are made with their keys in order; sorting is what costs.
  for (let i = 1; i < keys.length; i += 1) {
    if ((keys[i - 1] as string) > (keys[i] as string)) {
      keys.sort();
      break;
    }
  }
  let text = '';
  for (const key of keys) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(value[key] as JsonValue)}`;
  return `{${text}}`;
}

/** sha256 of some text or bytes, as lower-case hex (64 characters). */
export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** sha256 of the canonical JSON of a value. */
export function digestOf(value: JsonValue): string {
  return sha256(canonicalJson(value));
}
