// Checks expressions before anything runs: their syntax, the names that they bring themselves, and types. Names of the
// plan (steps, params, …) are the plan's business: here every such name exists.
import { compileExpression, onlyReference, type Compiled } from './compile.js';
import type { CelType } from './environment.js';
import { ExpressionError, shown } from './expression-error.js';
import { findUnknown, type NameFault } from './find-unknown.js';
import { isWhole } from './is-whole.js';
import { hintFor } from '../core/suggest.js';
import { slotsOf, type Slot } from './references.js';
import { findUnknownStatus } from './status-words.js';
import { parseExpression, type Node } from './syntax.js';
import { parseTemplate } from './template-text.js';

/** Types as plans declare them; `any` where nothing is known; `null` of a literal null; `http_result` has status, headers and body. */
export type ExpressionType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null' | 'http_result' | 'any';

/** What the plan knows of the types of what expressions read. Asked by name, so it may stand for any number of steps. */
export interface TypeEnvironment {
  param(name: string): ExpressionType;
  output(stepId: string, name: string): ExpressionType;
  result(stepId: string): ExpressionType;
}

export interface ExpressionFault {
  code: NameFault['code'] | 'type_mismatch' | 'unknown_status';
  message: string;
  hint?: string;
  /** Where in the text that was checked. */
  offset: number;
  length: number;
}

export type CheckResult = { type: ExpressionType } | { faults: ExpressionFault[] };

/** Checks one expression. With `expected` the result must be of that type, as far as its type is known. */
export function checkExpression(text: string, environment: TypeEnvironment, expected?: 'boolean'): CheckResult {
  let tree: Node;
  let slots: Slot[];
  try {
    [tree, slots] = [parseExpression(text), slotsOf(text)];
  } catch (error) {
    return { faults: [faultOf(error, text, 'bad_expression')] };
  }
  const faults = [...findUnknown(tree, text), ...slots.flatMap((slot) => httpFault(slot, environment)), ...findUnknownStatus(tree, text)];
  if (faults.length > 0) return { faults };
  const only = onlyReference(text);
  if (only !== undefined) return asExpected(resultOfOnly(only, environment), text, expected);
  let compiled: Compiled;
  try {
    compiled = compileExpression(text, (slot) => celTypeOf(typeOf(slot, environment)));
  } catch (error) {
    return { faults: [faultOf(error, text, 'type_mismatch')] };
  }
  if (compiled.type.startsWith('optional')) return { faults: [{ code: 'type_mismatch', message: `the value may be absent: ${shown(text)}`, hint: 'say what it is then, with .orValue(…)', offset: 0, length: text.length }] };
  return asExpected(resultType(compiled, environment), text, expected);
}

function asExpected(type: ExpressionType, text: string, expected: 'boolean' | undefined): CheckResult {
  if (expected === undefined || type === 'any' || type === expected) return { type };
  const hint = type === 'string' ? { hint: 'compare it: … == "value"' } : type === 'integer' || type === 'number' ? { hint: 'compare it: … > 0' } : {};
  return { faults: [{ code: 'type_mismatch', message: `expected true or false, this is ${article(type)}: ${shown(text)}`, ...hint, offset: 0, length: text.length }] };
}

/** Checks a template. With `wanted` text, a value that no text can be made of is a fault. */
export function checkTemplate(text: string, environment: TypeEnvironment, wanted?: 'text'): CheckResult {
  let parsed: ReturnType<typeof parseTemplate>;
  try {
    parsed = parseTemplate(text);
  } catch (error) {
    return { faults: [faultOf(error, text, 'bad_expression')] };
  }
  const { parts, whole } = parsed;
  const faults: ExpressionFault[] = [];
  let type: ExpressionType = 'string';
  for (const part of parts) {
    if (!('expression' in part)) continue;
    const { expression, offset } = part;
    const found = checkExpression(expression, environment);
    if ('faults' in found) for (const fault of found.faults) faults.push({ ...fault, offset: fault.offset + offset });
    else if (found.type === 'null' && (wanted === 'text' || whole === undefined)) faults.push({ code: 'type_mismatch', message: `expected text, this is null: ${shown(expression)}`, offset, length: expression.length });
    else if (whole !== undefined && wanted !== 'text') type = found.type;
  }
  return faults.length > 0 ? { faults } : { type };
}

function faultOf(error: unknown, text: string, code: ExpressionFault['code']): ExpressionFault {
  if (!(error instanceof ExpressionError)) throw error;
  const offset = error.offset ?? 0;
  return { code, message: error.reason, ...(error.hint === undefined ? {} : { hint: error.hint }), offset, length: error.length ?? Math.max(1, text.length - offset) };
}

const HTTP_RESULT = ['status', 'headers', 'body'];

function httpFault(slot: Slot, environment: TypeEnvironment): ExpressionFault[] {
  const { next } = slot;
  if (next === undefined || HTTP_RESULT.includes(next.name) || typeOf(slot, environment) !== 'http_result') return [];
  const hint = hintFor(next.name, HTTP_RESULT, 'it has status, headers and body; members of a JSON body are read as result.body.NAME');
  return [{ code: 'unknown_name', message: `the result of an http step has no "${next.name}"`, hint, offset: next.node.end - next.name.length, length: next.name.length }];
}

function typeOf({ root, name, member, output }: Slot, environment: TypeEnvironment): ExpressionType {
  switch (root) {
    case 'params':
      return name === undefined ? 'object' : environment.param(name);
    case 'env':
    case 'secrets':
    case 'session':
    case 'plan':
      return name === undefined ? 'object' : 'string';
    case 'steps':
      if (name === undefined || member === undefined) return 'object';
      if (member === 'status') return 'string';
      if (member === 'result') return environment.result(name);
      return output === undefined ? 'object' : environment.output(name, output);
  }
}

function celTypeOf(type: ExpressionType): CelType {
  switch (type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    case 'array':
      return 'list<dyn>';
    case 'object':
      return 'map<string, dyn>';
    case 'http_result':
    case 'null':
    case 'any':
      return 'dyn';
  }
}

function resultOfOnly(slot: Slot, environment: TypeEnvironment): ExpressionType {
  const type = typeOf(slot, environment);
  return type === 'http_result' ? 'object' : type;
}

function resultType({ tree, slots, type }: Compiled, environment: TypeEnvironment): ExpressionType {
  const values = new Map(slots.flatMap((slot) => (slot.form === 'value' ? [[slot.node, slot]] : [])));
  const declaredInteger = (node: Node) => {
    const slot = values.get(node);
    return slot !== undefined && typeOf(slot, environment) === 'integer';
  };
  if (type === 'string') return 'string';
  if (type === 'bool') return 'boolean';
  if (type === 'double') return isWhole(tree, declaredInteger) ? 'integer' : 'number';
  if (type === 'null') return 'null';
  if (type.startsWith('list')) return 'array';
  if (type.startsWith('map')) return 'object';
  return type.startsWith('google.protobuf.') ? 'string' : 'any';
}

function article(type: ExpressionType): string {
  return type === 'string' ? 'text' : type === 'null' ? 'null' : /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}
