// How a session ends: pure decisions over the states of its steps.
import type { ErrorRecord } from '../core/error.js';
import type { StepState } from '../core/step-state.js';
import type { StepSpec } from '../plan/plan.js';

/** The first untolerated failure of a phase, as the root cause of the session. By time, then by place in the file. */
export function rootCause(steps: readonly StepSpec[], stateOf: (id: string) => StepState, phase: 'main' | 'finally'): ErrorRecord | undefined {
  let first: { id: string; at: number; error: ErrorRecord } | undefined;
  for (const step of steps) {
    if (step.finally !== (phase === 'finally')) continue;
    const state = stateOf(step.id);
    if (state.status !== 'failed' || state.tolerated) continue;
    if (first === undefined || state.ended_at < first.at) first = { id: step.id, at: state.ended_at, error: state.error };
  }
  return first === undefined ? undefined : { ...first.error, step_id: first.id };
}
