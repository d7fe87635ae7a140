// One YAML scalar to a JSON value, by what is meant at its place.
import type { Scalar } from 'yaml';
import type { JsonValue } from '../core/json.js';
import { quote } from '../core/suggest.js';
import type { ProblemCode } from './problem-code.js';

/** Half of a pair that stands alone. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

export interface ScalarRule {
  /** Text keeps the spelling of the source. */
  text: boolean;
  /** Any JSON: a number must be written as JSON writes it, since it may become text further on. */
  json: boolean;
  nullable: boolean;
}

export type ScalarRead = { value: JsonValue } | { fault: { code: ProblemCode; message: string; hint?: string } };

export function readScalar(scalar: Scalar, rule: ScalarRule): ScalarRead {
  const { value } = scalar;
  const source = scalar.source ?? '';
  if (typeof value === 'string') {
    if (value.includes('\0')) return { fault: { code: 'nul_character', message: 'a text cannot hold the character NUL', hint: 'remove \\0' } };
    if (LONE_SURROGATE.test(value)) return { fault: { code: 'lone_surrogate', message: 'a text cannot hold half of a surrogate pair: no UTF-8 can be made of it', hint: 'write the character itself, or both halves' } };
    return { value };
  }
  if (value === null) {
    // Nothing at all is not text; the words null and ~ are, where text is meant.
    return { value: rule.text && !rule.nullable && source !== '' ? source : null };
  }
  if (rule.text) return { value: source };
  if (typeof value === 'boolean') return { value };
  if (typeof value === 'number') return readNumber(value, source, rule);
  return { fault: { code: 'wrong_type', message: `expected a text, a number, true, false or nothing, found ${quote(source)}` } };
}

function readNumber(value: number, source: string, rule: ScalarRule): ScalarRead {
  if (!Number.isFinite(value)) {
    return { fault: { code: 'unsafe_number', message: `${quote(source)} is not a number that JSON has`, hint: 'to mean the text, put quotes' } };
  }
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return { fault: { code: 'unsafe_number', message: `the number ${source} would lose digits`, hint: `to mean the text, put quotes: "${source}"` } };
  }
  if (rule.json && String(value) !== source) {
    return { fault: { code: 'ambiguous_number', message: `${source} would become the number ${String(value)}`, hint: `to mean the text, put quotes: "${source}"; to mean the number, write ${String(value)}` } };
  }
  return { value };
}
