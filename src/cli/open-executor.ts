// The executor as the command line uses it.
import { PlanExecutor } from '../executor/plan-executor.js';
import type { Store } from '../store/store.js';
import type { CliContext } from './cli-context.js';

/** Secrets and variables of the host come from the environment. */
export function openExecutor(context: CliContext, store: Store): PlanExecutor {
  return new PlanExecutor({ store, clock: context.clock, secrets: (name) => context.env[name], hostEnv: context.env });
}
