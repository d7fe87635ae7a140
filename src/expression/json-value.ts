// Values on their way into and out of the CEL library.
import type { JsonObject, JsonValue } from '../core/json.js';

/** The integers that a JSON number holds exactly end here. */
export const TOO_LARGE = `whole numbers are exact only to ${Number.MAX_SAFE_INTEGER}`;

const converted = new WeakMap<object, unknown>();

/**
 * A JSON value as the library may read it. It looks at `constructor` to know what a value is, so an object with a
 * member of that name becomes a Map.
 */
export function celValue(value: JsonValue): unknown {
  if (value === null || typeof value !== 'object') return value;
  let known = converted.get(value);
  if (known === undefined) converted.set(value, (known = convert(value)));
  return known;
}

function convert(value: JsonValue[] | JsonObject): unknown {
  if (Array.isArray(value)) {
    const items = value.map(celValue);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [key, celValue(member)]);
  if (Object.hasOwn(value, 'constructor')) return new Map(entries);
  return entries.every(([key, member]) => member === value[key]) ? value : Object.fromEntries(entries);
}

/** JSON of a value of the library. Throws Error for what JSON cannot hold. */
export function jsonValue(value: unknown): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw new Error(`the result is ${value}, which JSON cannot hold`);
    case 'bigint':
      return exactNumber(value);
    case 'object':
      return value === null ? null : jsonOf(value);
    default:
      throw new Error('the result is not a value');
  }
}

function jsonOf(value: object): JsonValue {
  if (Array.isArray(value)) return value.map(jsonValue);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, member]) => [String(key), jsonValue(member)]));
  if (value instanceof Date) return value.toISOString();
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, jsonValue(member)]));
  }
  switch ((value as { [Symbol.toStringTag]?: string })[Symbol.toStringTag]) {
    case 'optional':
      throw new Error('the result may be absent; say what it is then, with .orValue(…)');
    case 'google.protobuf.Duration':
      return `${Math.round(Number(value))}ms`;
    default:
      throw new Error('the result is bytes or a type, which JSON cannot hold; make text of it');
  }
}

/** A number that holds the integer exactly. Throws Error when none does. */
export function exactNumber(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new Error(`${value} is too large: ${TOO_LARGE}`);
}

/** A value as text: text as it is, numbers and booleans as JSON writes them, arrays and objects as JSON. */
export function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
