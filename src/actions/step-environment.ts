// The environment of the processes that a step starts.
import { baseEnvironment } from '../process/base-environment.js';
import type { AttemptContext } from './action.js';

/** The base of the host, what plan and step declare, and the variables that say which attempt this is. */
export function stepEnvironment(context: AttemptContext): { [name: string]: string } {
  return {
    ...baseEnvironment(context.host_env ?? process.env),
    ...context.env,
    PLAN_SESSION_ID: context.session_id,
    PLAN_STEP_ID: context.step.id,
    PLAN_ATTEMPT: String(context.attempt),
    PLAN_ATTEMPT_ID: context.process_tag,
  };
}
