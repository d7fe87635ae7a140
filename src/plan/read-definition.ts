// A plan given as an object: the same tree that the reader makes of a file, without a detour over text. Whatever is
// not plainly right is left to the reader, which can say where it stands.
import type { JsonObject, JsonValue } from '../core/json.js';
import { LONE_SURROGATE } from './read-scalar.js';
import type { Shape } from './schema-shape.js';
import { MAX_DEPTH } from './yaml-document.js';

/** Thrown when the text of the definition must be read instead. */
export class NeedsText extends Error {}

/** A copy of `value` as the reader would make it; throws NeedsText when there is something to tell. */
export function readDefinition(value: JsonValue, shape: Shape, depth = 0): JsonValue {
  if (depth > MAX_DEPTH) throw new NeedsText();
  if (Array.isArray(value)) {
    return value.map((item) => readDefinition(item, shape.items ?? BELOW_UNKNOWN, depth + 1));
  }
  if (value !== null && typeof value === 'object') return readObject(value, shape, depth);
  if (typeof value === 'string') {
    if (value.includes('\0') || LONE_SURROGATE.test(value)) throw new NeedsText();
    return value;
  }
  if (shape.text === 'typed' || value === null) return value;
  if (shape.text) return String(value);
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) throw new NeedsText();
  return value;
}

function readObject(value: JsonObject, shape: Shape, depth: number): JsonObject {
  const result = Object.create(null) as JsonObject;
  for (const key of Object.keys(value)) {
    if (depth === 0 && shape.ignored?.test(key) === true) continue;
    if (key === '__proto__' || LONE_SURROGATE.test(key) || (shape.keys !== undefined && !shape.keys.has(key))) throw new NeedsText();
    result[key] = readDefinition(value[key] as JsonValue, shape.keys?.get(key) ?? shape.values ?? BELOW_UNKNOWN, depth + 1);
  }
  return result;
}

const BELOW_UNKNOWN: Shape = { text: false, json: false, types: undefined, keys: undefined, values: undefined, items: undefined, ignored: undefined };
