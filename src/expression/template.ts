// Templates: text with `${{ }}` parts. One whole expression keeps the type of its value; anything else is text.
import type { JsonObject, JsonValue } from '../core/json.js';
import { textOf } from './cel.js';
import { evaluateExpression } from './evaluate.js';
import { ExpressionError, shown } from './expression-error.js';
import type { EvaluationScope } from './scope.js';
import { parseTemplate } from './template-text.js';

/** The value of a template. ExpressionError as of `evaluateExpression`. */
export function evaluateTemplate(text: string, scope: EvaluationScope): JsonValue {
  if (!text.includes('${{')) return text;
  const { parts, whole } = parseTemplate(text);
  if (whole) return evaluateExpression((parts[0] as { expression: string }).expression, scope);
  return parts.map((part) => ('text' in part ? part.text : asText(part.expression, scope))).join('');
}

/** The value of a template as text; numbers and booleans as JSON writes them, arrays and objects as JSON. */
export function evaluateText(text: string, scope: EvaluationScope): string {
  if (!text.includes('${{')) return text;
  return parseTemplate(text)
    .parts.map((part) => ('text' in part ? part.text : asText(part.expression, scope)))
    .join('');
}

/** A JSON value whose strings are templates, resolved. */
export function evaluateValue(value: JsonValue, scope: EvaluationScope): JsonValue {
  if (typeof value === 'string') return evaluateTemplate(value, scope);
  if (Array.isArray(value)) return value.map((item) => evaluateValue(item, scope));
  if (value === null || typeof value !== 'object') return value;
  const result = Object.create(null) as JsonObject;
  for (const [key, member] of Object.entries(value)) result[key] = evaluateValue(member, scope);
  return { ...result };
}

function asText(expression: string, scope: EvaluationScope): string {
  const value = evaluateExpression(expression, scope);
  if (value === null) throw new ExpressionError(`expected text, got null from: ${shown(expression)}`, expression);
  return textOf(value);
}
