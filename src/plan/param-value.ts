// Whether a value fits a param.
import { RE2JS } from 're2js';
import type { JsonValue } from '../core/json.js';
import { canonicalJson } from '../core/json.js';
import type { ParamSpec, ValueType } from './plan.js';
import { listOf, nearest, quote } from '../core/suggest.js';

export interface ValueFault {
  message: string;
  hint?: string;
}

/** What is wrong with a value for a param; undefined when it fits. */
export function paramFault(value: JsonValue, spec: Omit<ParamSpec, 'description' | 'default'>): ValueFault | undefined {
  if (!isOfType(value, spec.type)) {
    const hint = spec.type === 'string' && typeof value !== 'object' ? 'put quotes' : undefined;
    return { message: `expected ${TYPE_WORDS[spec.type]}, found ${show(value)}`, ...(hint === undefined ? {} : { hint }) };
  }
  if (spec.enum !== undefined && !spec.enum.some((allowed) => canonicalJson(allowed) === canonicalJson(value))) {
    const meant = typeof value === 'string' ? nearest(value, spec.enum.filter((allowed) => typeof allowed === 'string')) : undefined;
    return { message: `expected ${listOf(spec.enum.map(show))}, found ${show(value)}`, ...(meant === undefined ? {} : { hint: `did you mean "${meant}"?` }) };
  }
  if (spec.pattern !== undefined && typeof value === 'string' && !linearRegex(spec.pattern).matcher(value).find()) {
    return { message: `expected a text that matches ${spec.pattern}, found ${show(value)}` };
  }
  return rangeFault(value, spec);
}

function rangeFault(value: JsonValue, { min, max }: { min?: number; max?: number }): ValueFault | undefined {
  const size = typeof value === 'number' ? value : typeof value === 'string' ? [...value].length : Array.isArray(value) ? value.length : undefined;
  if (size === undefined) return undefined;
  const what = typeof value === 'number' ? 'a number' : typeof value === 'string' ? 'a length' : 'a number of items';
  if (min !== undefined && size < min) return { message: `expected ${what} from ${min}, found ${size}` };
  if (max !== undefined && size > max) return { message: `expected ${what} up to ${max}, found ${size}` };
  return undefined;
}

export const TYPE_WORDS: { readonly [type in ValueType]: string } = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
};

/** Whether a JSON value has a type. Whole numbers must be exact (up to 2^53 - 1). */
export function isOfType(value: JsonValue, type: ValueType): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return value !== null && typeof value === 'object' && !Array.isArray(value);
  }
}

function show(value: JsonValue): string {
  return typeof value === 'string' ? quote(value) : quote(JSON.stringify(value)).slice(1, -1).replaceAll('\\"', '"');
}

/** A pattern that cannot take more than linear time. Throws when it is none. */
export function linearRegex(pattern: string): RE2JS {
  return RE2JS.compile(pattern);
}
