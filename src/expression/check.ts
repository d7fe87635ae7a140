// Checks the types of expressions before anything runs. Names are the plan's business: here every name exists.
import type { VariableLetter } from './cel.js';
import { compileExpression } from './compile.js';
import { ExpressionError, shown } from './expression-error.js';
import type { FoundReference } from './references.js';
import { parseTemplate } from './template-text.js';

/** Types as plans declare them; `any` where nothing is known; `null` of a literal null. */
export type ExpressionType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null' | 'http_result' | 'any';

/** What the plan knows of the types of what expressions read. */
export interface TypeEnvironment {
  param(name: string): ExpressionType;
  output(stepId: string, name: string): ExpressionType;
  result(stepId: string): ExpressionType;
}

export interface ExpressionFault {
  code: 'bad_expression' | 'type_mismatch';
  message: string;
  hint?: string;
  /** Where in the text that was checked. */
  offset: number;
  length: number;
}

export type CheckResult = { type: ExpressionType } | { faults: ExpressionFault[] };

/** Checks one expression. With `expected` the result must be of that type, as far as its type is known. */
export function checkExpression(text: string, environment: TypeEnvironment, expected?: 'boolean'): CheckResult {
  try {
    const program = compileExpression(text, (reference) => letterOf(typeOf(reference, environment)));
    const result = program.check();
    if ('error' in result) return { faults: [fault(result.error, text, 'type_mismatch')] };
    const type = typeFrom(result.type, program.references, environment, text);
    if (expected !== undefined && type !== 'any' && type !== expected) {
      return { faults: [{ code: 'type_mismatch', message: `expected true or false, this is ${article(type)}: ${shown(text)}`, ...conditionHint(type), offset: 0, length: text.length }] };
    }
    return { type };
  } catch (error) {
    if (error instanceof ExpressionError) return { faults: [fault(error, text, 'bad_expression')] };
    throw error;
  }
}

/** Checks a template. With `wanted` text, a value that no text can be made of is a fault. */
export function checkTemplate(text: string, environment: TypeEnvironment, wanted?: 'text'): CheckResult {
  try {
    const { parts, whole } = parseTemplate(text);
    let type: ExpressionType = 'string';
    for (const part of parts) {
      if (!('expression' in part)) continue;
      const found = checkExpression(part.expression, environment);
      if ('faults' in found) return { faults: found.faults.map((one) => ({ ...one, offset: one.offset + part.offset })) };
      if (found.type === 'null' && (wanted === 'text' || !whole)) {
        return { faults: [{ code: 'type_mismatch', message: `expected text, this is null: ${shown(part.expression)}`, offset: part.offset, length: part.expression.length }] };
      }
      if (whole && wanted !== 'text') type = found.type;
    }
    return { type };
  } catch (error) {
    if (error instanceof ExpressionError) return { faults: [fault(error, text, 'bad_expression')] };
    throw error;
  }
}

function fault(error: ExpressionError, text: string, code: ExpressionFault['code']): ExpressionFault {
  const offset = error.offset ?? 0;
  return { code, message: error.message, ...hintOf(error.message), offset, length: error.length ?? Math.max(1, text.length - offset) };
}

function hintOf(message: string): { hint?: string } {
  if (/no such overload: .*string.* \+ /.test(message) || /no such overload: .* \+ string/.test(message)) {
    return { hint: 'make text of the number with string(…), or write the text around ${{ }}' };
  }
  if (/no such overload: (?:double|int) == string|no such overload: string == (?:double|int)/.test(message)) return { hint: 'compare values of one type: string(…) or double(…)' };
  const unknown = /Unknown variable: (\w+)/.exec(message)?.[1];
  if (unknown !== undefined) return { hint: `names begin with params, steps, env, secrets, session or plan; text stands in quotes: "${unknown}"` };
  return {};
}

function conditionHint(type: ExpressionType): { hint?: string } {
  return type === 'string' ? { hint: 'compare it: … == "value"' } : type === 'integer' || type === 'number' ? { hint: 'compare it: … > 0' } : {};
}

function typeOf(reference: FoundReference, environment: TypeEnvironment): ExpressionType {
  const { root, name, member, output } = reference;
  if (reference.form === 'optional') return 'object';
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

function letterOf(type: ExpressionType): VariableLetter {
  switch (type) {
    case 'string':
      return 's';
    case 'integer':
    case 'number':
      return 'n';
    case 'boolean':
      return 'b';
    case 'object':
      return 'm';
    // The library wants an integer as the index of a typed list; numbers here are decimals (C1), so lists stay untyped.
    case 'array':
    case 'http_result':
    case 'null':
    case 'any':
      return 'x';
  }
}

function typeFrom(cel: string, references: ReadonlyArray<FoundReference & { variable: string }>, environment: TypeEnvironment, text: string): ExpressionType {
  // One bare reference keeps the type that the plan declared, `integer` included.
  const [only] = references;
  if (only !== undefined && references.length === 1 && only.form === 'value' && only.node.start === 0 && only.node.end === text.length) {
    const type = typeOf(only, environment);
    return type === 'http_result' ? 'object' : type;
  }
  if (cel === 'string' || cel === 'bytes') return 'string';
  if (cel === 'bool') return 'boolean';
  if (cel === 'int' || cel === 'uint') return 'integer';
  if (cel === 'double') return 'number';
  if (cel === 'null' || cel === 'null_type') return 'null';
  if (cel.startsWith('list')) return 'array';
  if (cel.startsWith('map')) return 'object';
  return 'any';
}

function article(type: ExpressionType): string {
  return type === 'string' ? 'text' : type === 'null' ? 'null' : /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}
