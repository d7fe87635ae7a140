// Templates: text with `${{ }}` parts. One whole expression keeps the type of its value; anything else is text.
import type { JsonObject, JsonValue } from '../core/json.js';
import { evaluateExpression } from './evaluate.js';
import { ExpressionError, inExpression } from './expression-error.js';
import { textOf } from './json-value.js';
import type { EvaluationScope } from './scope.js';
import { parseTemplate } from './template-text.js';

/** The value of a template: of any type when it is one expression and nothing else, else text. ExpressionError as of `evaluateExpression`. */
export function evaluateTemplate(text: string, scope: EvaluationScope): JsonValue {
  if (!text.includes('${{')) return text;
  const { whole } = parseTemplate(text);
  return whole === undefined ? evaluateText(text, scope) : evaluateExpression(whole, scope);
}

/**
 * The value of a template as text: numbers and booleans as JSON writes them, arrays and objects as JSON.
 * @throws ExpressionError as of `evaluateExpression`, and for null, which is no text
 */
export function evaluateText(text: string, scope: EvaluationScope): string {
  if (!text.includes('${{')) return text;
  let result = '';
  for (const part of parseTemplate(text).parts) result += 'text' in part ? part.text : expressionText(part.expression, scope);
  return result;
}

/** A JSON value whose strings are templates, resolved. Keys stay as they are. ExpressionError as of `evaluateExpression`. */
export function evaluateValue(value: JsonValue, scope: EvaluationScope): JsonValue {
  if (typeof value === 'string') return evaluateTemplate(value, scope);
  if (Array.isArray(value)) return value.map((item) => evaluateValue(item, scope));
  if (value === null || typeof value !== 'object') return value;
  // fromEntries makes `__proto__` an ordinary key.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, evaluateValue(member, scope)])) as JsonObject;
}

function expressionText(expression: string, scope: EvaluationScope): string {
  const value = evaluateExpression(expression, scope);
  if (value === null) throw new ExpressionError(inExpression('expected text, got null', expression), expression, undefined, 'say what null means here: x == null ? "" : string(x)');
  return textOf(value);
}
