// Evaluates expressions against a scope. What an expression does not come to is not looked up.
import { Optional } from '@marcbachmann/cel-js';
import type { JsonValue } from '../core/json.js';
import { compileExpression, onlyReference, type Compiled } from './compile.js';
import { beginEvaluation } from './environment.js';
import { checkResultSize } from './evaluation-cost.js';
import { ExpressionError, inExpression } from './expression-error.js';
import { celValue, jsonValue } from './json-value.js';
import { memoize } from './memoize.js';
import type { Slot } from './references.js';
import type { EvaluationScope } from './scope.js';

type Program =
  /** The expression is one reference and nothing else. */
  | { only: Slot }
  /** `values` has getters for the variables; what inherits from it has the `scope` that they read. */
  | { only?: undefined; compiled: Compiled; values: object };

const programOf: (text: string) => Program = memoize((text) => {
  const only = onlyReference(text);
  if (only !== undefined) return { only };
  const compiled = compileExpression(text, () => 'dyn');
  const values = Object.create(null) as object;
  for (const slot of compiled.slots) {
    Object.defineProperty(values, slot.variable, {
      get(this: { scope: EvaluationScope }) {
        return variableValue(slot, this.scope, text);
      },
    });
  }
  return { compiled, values };
});

/**
 * The value of an expression as JSON; integers are numbers.
 * @throws ExpressionError naming the expression, and what was absent and why where something was
 */
export function evaluateExpression(text: string, scope: EvaluationScope): JsonValue {
  const program = programOf(text);
  if (program.only !== undefined) return present(program.only, scope, text);
  const values = Object.create(program.values) as { scope: EvaluationScope };
  values.scope = scope;
  beginEvaluation();
  let result: unknown;
  // Loops such as exists() meet an error in every turn; where it was thrown in this code is of no use to anybody.
  const frames = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    result = program.compiled.run(values);
  } catch (error) {
    throw program.compiled.explain(error);
  } finally {
    Error.stackTraceLimit = frames;
  }
  try {
    checkResultSize(result);
    return jsonValue(result);
  } catch (error) {
    throw new ExpressionError(inExpression((error as Error).message, text), text);
  }
}

/** The verdict of a condition. ExpressionError as of `evaluateExpression`, and when the value is anything but true or false. */
export function evaluateCondition(text: string, scope: EvaluationScope): boolean {
  const value = evaluateExpression(text, scope);
  if (typeof value === 'boolean') return value;
  throw new ExpressionError(inExpression(`expected true or false, got ${describe(value)}`, text), text);
}

function describe(value: JsonValue): string {
  if (value === null || typeof value !== 'object') {
    const json = JSON.stringify(value);
    return json.length > 60 ? `${json.slice(0, 59)}…` : json;
  }
  return Array.isArray(value) ? 'an array' : 'an object';
}

function variableValue(slot: Slot, scope: EvaluationScope, text: string): unknown {
  switch (slot.form) {
    case 'presence':
      return valueAt(slot, scope) !== undefined;
    case 'optional': {
      const value = valueAt(slot, scope);
      return value === undefined ? Optional.none() : Optional.of(celValue(value));
    }
    case 'value':
      return celValue(present(slot, scope, text));
  }
}

function present(slot: Slot, scope: EvaluationScope, text: string): JsonValue {
  const value = valueAt(slot, scope);
  if (value !== undefined) return value;
  const { offset, length } = slot;
  throw new ExpressionError(inExpression(absence(slot, scope), text), text, { offset, length });
}

function valueAt({ root, names }: Slot, scope: EvaluationScope): JsonValue | undefined {
  // A step is no value, its members are.
  if (root === 'steps' && names.length < 2) return undefined;
  let value: unknown = root === 'steps' ? scope.step(names[0] as string) : scope[root];
  for (let i = root === 'steps' ? 1 : 0; i < names.length; i += 1) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, names[i] as string)) return undefined;
    value = (value as { [name: string]: unknown })[names[i] as string];
  }
  return value as JsonValue | undefined;
}

const ENDED: { [status: string]: string } = {
  pending: 'has not run',
  running: 'is still running',
  retry_wait: 'waits for its next try',
  waiting_timer: 'is waiting',
  failed: 'failed',
  skipped: 'was skipped',
  cancelled: 'was cancelled',
};

function absence({ root, names }: Slot, scope: EvaluationScope): string {
  const path = pathText(root, names);
  if (root === 'env') return `${path} is absent: the variable is not set`;
  if (root === 'secrets') return `${path} is absent: the secret is not set`;
  if (root !== 'steps') return `${path} is absent`;
  if (names.length < 2) return `${path} is no value; read its status, outputs or result`;
  const id = pathText(root, names.slice(0, 1));
  const step = scope.step(names[0] as string);
  if (step === undefined) return `${path} is absent: ${id} is not known here`;
  return `${path} is absent: ${ENDED[step.status] === undefined ? `${id} did not give it` : `${id} ${ENDED[step.status] as string}`}`;
}

function pathText(root: string, names: readonly string[]): string {
  return names.reduce((path, name) => (/^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`), root);
}
