// The canonical plan as JSON text, the form that a store keeps.
import { canonicalJson, sha256, type JsonValue } from '../core/json.js';
import { deepFreeze } from './normalize.js';
import type { Plan } from './plan.js';

// A plan is frozen, so its text never changes; one plan is often run many times.
const texts = new WeakMap<Plan, string>();

/** Canonical JSON of a plan; `parsePlanJson` is its inverse. */
export function planJson(plan: Plan): string {
  let text = texts.get(plan);
  if (text === undefined) texts.set(plan, (text = canonicalJson(plan as unknown as JsonValue)));
  return text;
}

const storedForms = new WeakMap<Plan, Plan>();

/**
 * The plan as a store gives it back. A session is driven from this form from its start, so that a run and a resume see
 * members in one order, and send the same bytes.
 */
export function storedForm(plan: Plan): Plan {
  let stored = storedForms.get(plan);
  if (stored === undefined) storedForms.set(plan, (stored = parsePlanJson(planJson(plan))));
  return stored;
}

/**
 * The frozen plan of a text that `planJson` made. Throws when the text was changed since: its `plan_hash` no longer
 * fits.
 */
export function parsePlanJson(json: string): Plan {
  const plan = withoutPrototypes(JSON.parse(json) as JsonValue) as unknown as Plan;
  if (plan.plan !== 1) throw new Error(`the stored plan has language version ${String(plan.plan)}; this program knows version 1`);
  // The text is canonical: without the member `plan_hash` it is what the hash was made of.
  const member = `"plan_hash":${JSON.stringify(plan.plan_hash)},`;
  const at = json.indexOf(member);
  const found = sha256(json.slice(0, at) + json.slice(at + member.length));
  if (at === -1 || found !== plan.plan_hash) throw new Error(`the stored plan was changed: its hash is ${found.slice(0, 12)}, recorded is ${String(plan.plan_hash).slice(0, 12)}`);
  return deepFreeze(plan);
}

// Names of users are keys here: "toString" must not be found where nobody put it.
function withoutPrototypes(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (value === null || typeof value !== 'object') return value;
  const result = Object.create(null) as { [key: string]: JsonValue };
  for (const key of Object.keys(value)) result[key] = withoutPrototypes(value[key] as JsonValue);
  return result;
}
