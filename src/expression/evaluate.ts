// Evaluates expressions against a scope. Only what an expression refers to is looked up.
import type { JsonValue } from '../core/json.js';
import { toCelValue, toJsonValue } from './cel.js';
import { compileExpression } from './compile.js';
import { ExpressionError, shown } from './expression-error.js';
import { memoize } from './memoize.js';
import type { FoundReference } from './references.js';
import type { EvaluationScope } from './scope.js';

const compiled = memoize((text) => compileExpression(text, () => 'x'));

/**
 * The value of an expression as JSON; integers are numbers.
 * @throws ExpressionError naming the expression, and what was absent where something was
 */
export function evaluateExpression(text: string, scope: EvaluationScope): JsonValue {
  const program = compiled(text);
  const values: { [variable: string]: unknown } = {};
  for (const reference of program.references) values[reference.variable] = toCelValue(valueOf(reference, scope, text));
  let result: unknown;
  try {
    result = program.run(values);
  } catch (error) {
    throw program.explain(error);
  }
  try {
    return toJsonValue(result) as JsonValue;
  } catch (error) {
    throw new ExpressionError(`${error instanceof Error ? error.message : String(error)} in: ${shown(text)}`, text);
  }
}

/** The verdict of a condition. ExpressionError when it gives anything but true or false. */
export function evaluateCondition(text: string, scope: EvaluationScope): boolean {
  const value = evaluateExpression(text, scope);
  if (typeof value === 'boolean') return value;
  throw new ExpressionError(`expected true or false, got ${describe(value)} from: ${shown(text)}`, text);
}

function valueOf(reference: FoundReference, scope: EvaluationScope, text: string): unknown {
  const { root, names, form } = reference;
  const [value, missing] = resolve(root, names, scope);
  if (form === 'presence') return missing === undefined;
  if (form === 'optional') return missing === undefined ? (value ?? {}) : {};
  if (missing === undefined) return value;
  // A branch that is not taken must not fail for a value that it alone reads.
  if (reference.guarded) return null;
  throw new ExpressionError(`${missing} in: ${shown(text)}`, text, { offset: reference.offset, length: reference.length });
}

/** The value of a path, or what is missing. */
function resolve(root: FoundReference['root'], names: readonly string[], scope: EvaluationScope): [unknown, string?] {
  let value: unknown = root === 'steps' ? stepValue(names[0], scope) : scope[root];
  let path: string = root;
  let step: { status: string } | undefined;
  for (const [i, name] of names.entries()) {
    path += /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    if (root === 'steps' && i === 0) {
      step = value as { status: string } | undefined;
      if (value === undefined) return [undefined, `${path} is not known here`];
      continue;
    }
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name) || (value as { [key: string]: unknown })[name] === undefined) {
      return [undefined, `${path} is absent${step === undefined || step.status === 'completed' ? '' : `: the step ${names[0] as string} is ${step.status}`}`];
    }
    value = (value as { [key: string]: unknown })[name];
  }
  return [value];
}

function stepValue(id: string | undefined, scope: EvaluationScope): unknown {
  return id === undefined ? undefined : scope.step(id);
}

function describe(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : JSON.stringify(value);
}
