// JSON values, their canonical text, and the digests made of it.
import { createHash } from 'node:crypto';

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

/**
 * Where a value stops being JSON, as a path such as `$.a[2]`; undefined when it is JSON all through.
 * Refuses what JSON.stringify would change in silence: undefined, NaN, dates, class instances, cycles.
 */
export function findNonJson(value: unknown): { path: string; found: string } | undefined {
  const stack: Array<{ value: unknown; path: string; depth: number }> = [{ value, path: '$', depth: 0 }];
  const seen = new Set<object>();
  while (stack.length > 0) {
    const { value: item, path, depth } = stack.pop() as (typeof stack)[number];
    if (item === null || typeof item === 'string' || typeof item === 'boolean') continue;
    if (typeof item === 'number') {
      if (Number.isFinite(item)) continue;
      return { path, found: String(item) };
    }
    if (typeof item !== 'object') return { path, found: typeof item };
    if (depth > 200) return { path, found: 'nesting deeper than 200, or a cycle' };
    if (Array.isArray(item)) {
      for (let i = 0; i < item.length; i += 1) stack.push({ value: item[i], path: `${path}[${i}]`, depth: depth + 1 });
      continue;
    }
    const prototype: unknown = Object.getPrototypeOf(item);
    if (prototype !== Object.prototype && prototype !== null) {
      return { path, found: (item as { constructor?: { name?: string } }).constructor?.name ?? 'an object of a class' };
    }
    if (seen.size > 1_000_000) return { path, found: 'more than a million objects, or a cycle' };
    seen.add(item);
    for (const [key, member] of Object.entries(item)) stack.push({ value: member, path: `${path}.${key}`, depth: depth + 1 });
  }
  return undefined;
}
