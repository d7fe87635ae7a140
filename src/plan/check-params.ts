// The declarations of params and secrets: limits that fit the type, defaults that fit the limits.
import type { AuthoredParam } from './authored.js';
import { isOfType, linearRegex, paramFault, TYPE_WORDS } from './param-value.js';
import type { ParamSpec } from './plan.js';
import type { PlanContext } from './plan-context.js';
import type { PlanPath } from './problem-list.js';
import { quote } from '../core/suggest.js';
import type { ProblemCode } from './problem-code.js';

export function checkParams(context: PlanContext): void {
  for (const [name, param] of Object.entries(context.plan.params ?? {})) {
    if (param.type !== undefined) checkParam(context, ['params', name], param as AuthoredParam & ParamSpec);
  }
  checkSecretNames(context);
}

function checkParam(context: PlanContext, path: PlanPath, param: ParamSpec): void {
  const { type } = param;
  let sound = true;
  const fault = (key: string, code: ProblemCode, message: string, hint?: string) => {
    sound = false;
    context.fault([...path, key], 'value', code, message, hint);
  };
  if (param.pattern !== undefined) {
    if (type !== 'string') fault('pattern', 'limit_not_for_type', `"pattern" goes with the type string, not ${type}`);
    else {
      const wrong = patternFault(param.pattern);
      if (wrong !== undefined) fault('pattern', 'bad_pattern', `not a regular expression (RE2): ${wrong}`, 'look-around and back-references are not available');
    }
  }
  for (const key of ['min', 'max'] as const) {
    if (param[key] !== undefined && (type === 'boolean' || type === 'object')) fault(key, 'limit_not_for_type', `"${key}" does not go with the type ${type}`);
  }
  if (param.min !== undefined && param.max !== undefined && param.min > param.max) fault('max', 'bad_value', `expected max (${param.max}) not below min (${param.min})`);
  param.enum?.forEach((value, index) => {
    if (isOfType(value, type)) return;
    sound = false;
    context.fault([...path, 'enum', index], 'value', 'wrong_type', `expected ${TYPE_WORDS[type]}, as the param says, found ${quote(JSON.stringify(value))}`);
  });
  if (!sound || param.default === undefined || context.problems.isTouched(path)) return;
  const wrong = paramFault(param.default, param);
  if (wrong !== undefined) fault('default', 'bad_default', `the default does not fit: ${wrong.message}`, wrong.hint);
}

function patternFault(pattern: string): string | undefined {
  try {
    linearRegex(pattern);
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split('\n')[0]?.replace(/^error parsing regexp: /, '');
  }
}

function checkSecretNames(context: PlanContext): void {
  const seen = new Set<string>();
  context.plan.secrets?.forEach((name, index) => {
    if (seen.has(name)) context.fault(['secrets', index], 'value', 'duplicate_key', `the secret ${name} is listed twice`, 'keep one of the two');
    seen.add(name);
  });
}
