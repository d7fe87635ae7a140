import type { JsonObject, JsonValue } from '../../src/core/json.js';
import type { ExpressionType, TypeEnvironment } from '../../src/expression/check.js';
import { evaluateExpression } from '../../src/expression/evaluate.js';
import type { EvaluationScope } from '../../src/expression/scope.js';

export type Steps = { [id: string]: { status: string; outputs?: JsonObject; result?: JsonValue } };

/** A scope in which only what the test gives exists. */
export function scopeOf(params: JsonObject = {}, steps: Steps = {}, asked: string[] = []): EvaluationScope {
  return {
    params,
    env: { HOME: '/root' },
    secrets: { TOKEN: 't' },
    session: { id: 'S' },
    plan: { name: 'p' },
    step(id) {
      asked.push(id);
      return Object.hasOwn(steps, id) ? steps[id] : undefined;
    },
  };
}

export function value(text: string, params: JsonObject = {}, steps: Steps = {}): JsonValue {
  return evaluateExpression(text, scopeOf(params, steps));
}

/** Params and outputs by the types of `declared`, results by `result_ID`. */
export function typesOf(declared: { [name: string]: ExpressionType }): TypeEnvironment {
  return {
    param: (name) => declared[name] ?? 'any',
    output: (_, name) => declared[name] ?? 'any',
    result: (id) => declared[`result_${id}`] ?? 'any',
  };
}
