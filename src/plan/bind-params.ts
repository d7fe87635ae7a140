// The values of one run for the params of a plan.
import { findNonJson, type JsonObject, type JsonValue } from '../core/json.js';
import { isOfType, paramFault, TYPE_WORDS, type ValueFault } from './param-value.js';
import type { ParamSpec, Plan, ValueType } from './plan.js';
import { listOf, nearest, quote } from '../core/suggest.js';

export interface ParamProblem {
  code: 'unknown_param' | 'missing_param' | 'bad_param';
  param: string;
  message: string;
  hint?: string;
}

/**
 * Binds values to params: given JSON values (from a file or a host program) and texts (from a command line, read by
 * the type of the param). A text wins over a value of the same name. Defaults fill in the rest.
 * @returns every param with a value, in the order of the plan; or all problems
 */
export function bindParams(
  plan: Pick<Plan, 'params'>,
  given: { [name: string]: JsonValue } = {},
  texts: { [name: string]: string } = {},
): { ok: true; params: JsonObject } | { ok: false; problems: ParamProblem[] } {
  const problems: ParamProblem[] = [];
  const params = Object.create(null) as JsonObject;
  const declared = Object.keys(plan.params);
  for (const name of new Set([...Object.keys(given), ...Object.keys(texts)])) {
    if (!Object.hasOwn(plan.params, name)) problems.push(unknownParam(name, declared));
  }
  for (const name of declared) {
    const spec = plan.params[name] as ParamSpec;
    const bound = bindOne(name, spec, given, texts);
    if ('fault' in bound) {
      const { message, hint } = bound.fault;
      problems.push({ code: bound.code, param: name, message: `param ${name}: ${message}`, ...(hint === undefined ? {} : { hint }) });
    } else if (bound.value !== undefined) params[name] = bound.value;
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, params };
}

type Bound = { value: JsonValue | undefined } | { code: 'missing_param' | 'bad_param'; fault: ValueFault };

function bindOne(name: string, spec: ParamSpec, given: { [name: string]: JsonValue }, texts: { [name: string]: string }): Bound {
  let value: JsonValue | undefined;
  if (Object.hasOwn(texts, name)) {
    const read = readText(texts[name] as string, spec.type);
    if ('fault' in read) return { code: 'bad_param', fault: read.fault };
    ({ value } = read);
  } else if (Object.hasOwn(given, name)) value = given[name];
  if (value === undefined) {
    if (spec.default !== undefined) return { value: spec.default };
    const more = spec.enum === undefined ? '' : `, one of ${listOf(spec.enum.map((allowed) => JSON.stringify(allowed)))}`;
    return { code: 'missing_param', fault: { message: `a value is needed (${TYPE_WORDS[spec.type]}${more})`, hint: `give it by --param ${name}=…` } };
  }
  const wrong = findNonJson(value);
  if (wrong !== undefined) return { code: 'bad_param', fault: { message: `expected JSON, found ${wrong.found} at ${wrong.path}` } };
  const fault = paramFault(value, spec);
  return fault === undefined ? { value } : { code: 'bad_param', fault };
}

function unknownParam(name: string, declared: readonly string[]): ParamProblem {
  const meant = nearest(name, declared);
  const hint = meant !== undefined ? `did you mean "${meant}"?` : declared.length > 0 ? `the plan has: ${declared.join(', ')}` : 'the plan has no params';
  return { code: 'unknown_param', param: name, message: `the plan has no param ${quote(name)}`, hint };
}

// A text from a command line, by type: the user's shell took the quotes away already.
function readText(text: string, type: ValueType): { value: JsonValue } | { fault: ValueFault } {
  const trimmed = text.trim();
  const wrong = { fault: { message: `expected ${TYPE_WORDS[type]}, found ${quote(text)}` } };
  switch (type) {
    case 'string':
      return { value: text };
    case 'boolean':
      return trimmed === 'true' || trimmed === 'false' ? { value: trimmed === 'true' } : { fault: { ...wrong.fault, hint: 'write true or false' } };
    case 'integer':
    case 'number': {
      const value = Number(trimmed);
      const written = type === 'integer' ? /^[+-]?\d+$/ : /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
      return written.test(trimmed) && isOfType(value, type) ? { value: value === 0 ? 0 : value } : wrong;
    }
    case 'array':
    case 'object':
      try {
        return { value: JSON.parse(text) as JsonValue };
      } catch {
        return { fault: { ...wrong.fault, hint: type === 'array' ? 'write JSON: ["a", "b"]' : 'write JSON: {"a": 1}' } };
      }
  }
}
