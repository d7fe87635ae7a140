// The canonical plan as JSON text, the form that a store keeps.
import { canonicalJson, digestOf, type JsonValue } from '../core/json.js';
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

/**
 * The frozen plan of a text that `planJson` made. Throws when the text was changed since: its `plan_hash` no longer
 * fits.
 */
export function parsePlanJson(json: string): Plan {
  const plan = withoutPrototypes(JSON.parse(json) as JsonValue) as unknown as Plan;
  const { plan_hash: claimed, ...rest } = plan;
  if (rest.plan !== 1) throw new Error(`the stored plan has language version ${String(rest.plan)}; this program knows version 1`);
  const found = digestOf(rest as unknown as JsonValue);
  if (found !== claimed) throw new Error(`the stored plan was changed: its hash is ${found.slice(0, 12)}, recorded is ${String(claimed).slice(0, 12)}`);
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
