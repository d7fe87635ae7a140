// The plan of a stored session, with what is wrong with it told as a fault of its store.
import { StoreError } from '../core/error.js';
import { parsePlanJson } from '../plan/plan-json.js';
import type { Plan } from '../plan/plan.js';
import type { Store, StoredSession } from '../store/store.js';

/** StoreError `corrupt` when the text is not what was stored. */
export function storedPlan(store: Pick<Store, 'location'>, { start, plan_json }: Pick<StoredSession, 'start' | 'plan_json'>): Plan {
  try {
    return parsePlanJson(plan_json);
  } catch (cause) {
    throw new StoreError(
      'corrupt',
      `store ${store.location}: damaged row: plans, plan of session ${start.session_id}, plan_json: ${(cause as Error).message}; restore a backup, or choose another store (plan doctor lists every damaged row)`,
      { cause },
    );
  }
}
