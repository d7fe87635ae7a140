// What a step gives goes on to other steps and into the store. A secret in it cannot be kept, and masked it would be
// another value; so the step fails, unless nothing reads what holds it.
import { ActionError } from '../core/error.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import type { StepOutput } from '../core/step-state.js';
import { listOf } from '../core/suggest.js';
import { slotsOf } from '../expression/references.js';
import { templateExpressions } from '../expression/template-text.js';
import type { Plan, StepSpec } from '../plan/plan.js';
import type { Masker } from '../process/masker.js';

/**
 * What of an output may be kept: all of it, but masked in the result of an `http` or `call` step where no step reads it.
 * Throws ActionError `secret_in_output` (permanent) naming the place and the secret.
 */
export function keptOutput(plan: Plan, spec: StepSpec, output: StepOutput, masker: Masker): StepOutput {
  for (const [name, value] of Object.entries(output.outputs)) refuseSecrets(masker, value, `steps.${spec.id}.outputs.${name}`);
  const { result } = output;
  if (masker.namesIn(result).length === 0) return output;
  if (spec.stdout !== undefined) refuseSecrets(masker, result, `steps.${spec.id}.result (its stdout)`);
  const read = membersRead(plan, spec.id);
  if (read === 'all' || result === null || typeof result !== 'object' || Array.isArray(result)) {
    if (read === 'all' || read.size > 0) refuseSecrets(masker, result, `steps.${spec.id}.result`);
    return { outputs: output.outputs, result: masker.value(result) };
  }
  const kept = Object.entries(result).map(([name, value]): [string, JsonValue] => {
    // The members of an `http` result have names of this package's.
    if (!read.has(name)) return spec.action.kind === 'http' ? [name, masker.value(value)] : (Object.entries(masker.value({ [name]: value }) as JsonObject)[0] as [string, JsonValue]);
    refuseSecrets(masker, value, `steps.${spec.id}.result.${name}`);
    return [name, value];
  });
  return { outputs: output.outputs, result: Object.fromEntries(kept) };
}

/** Throws ActionError `secret_in_output` (permanent) when the value of `place` holds a secret. */
export function refuseSecrets(masker: Masker, value: JsonValue, place: string): void {
  const names = masker.namesIn(value);
  if (names.length === 0) return;
  const secrets = `the ${names.length === 1 ? 'secret' : 'secrets'} ${listOf(names, 'and')}`;
  throw new ActionError({
    class: 'permanent',
    code: 'secret_in_output',
    message: `${place} holds the value of ${secrets}, which is never stored, so it cannot be passed on; give out only what is not secret, and let the step that needs it read ${listOf(names.map((name) => `secrets.${name}`), 'and')}`,
  });
}

/** Names of the members that the plan reads of a step's result; `all` when it reads the result as a whole. */
function membersRead(plan: Plan, id: string): Set<string> | 'all' {
  const read = new Set<string>();
  for (const expression of expressionsOf(plan)) {
    for (const { root, names, next, form } of slotsOf(expression)) {
      // Whether something is there does not depend on its text.
      if (form === 'presence') continue;
      if (root !== 'steps' || (names.length > 0 && names[0] !== id) || (names.length > 1 && names[1] !== 'result')) continue;
      const member = names[2] ?? next?.name;
      if (member === undefined) return 'all';
      read.add(member);
    }
  }
  return read;
}

function* expressionsOf(plan: Plan): Generator<string> {
  for (const step of plan.steps) {
    if (step.if !== undefined) yield step.if;
    if (step.action.kind === 'check') yield step.action.that;
  }
  const stack: JsonValue[] = [plan.steps as unknown as JsonValue, plan.outputs];
  while (stack.length > 0) {
    const item = stack.pop() as JsonValue;
    if (typeof item === 'string') for (const { expression } of templateExpressions(item)) yield expression;
    else if (item !== null && typeof item === 'object') stack.push(...Object.values(item));
  }
}
