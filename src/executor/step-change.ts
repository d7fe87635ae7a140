// What happens to a step, as changes: pure functions from a state to the event and the next state.
// Counting follows I1 and I2 of core/step-state.ts.
import type { ErrorRecord } from '../core/error.js';
import type { Change } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import { decideRetry } from '../core/retry.js';
import type { SkipReason, StepState, StoredValue } from '../core/step-state.js';
import type { LogSummary } from '../core/log-summary.js';
import type { StepSpec } from '../plan/plan.js';

/** A change of one step: always with the step's id and its whole new state. */
export type StepChange = Change & { step_id: string; step: StepState };

type Counters = Pick<StepState, 'generation' | 'attempt' | 'failures' | 'interruptions' | 'verdict' | 'started_at' | 'deadline_at' | 'last_error'>;

// Written out: this runs several times a step, and spreads of what may be absent are slow.
function counters(state: StepState): Counters {
  const { verdict, started_at, deadline_at } = state;
  const counted: Counters = { generation: state.generation, attempt: state.attempt, failures: state.failures, interruptions: state.interruptions };
  if (verdict !== undefined) counted.verdict = verdict;
  if (started_at !== undefined) counted.started_at = started_at;
  if (deadline_at !== undefined) counted.deadline_at = deadline_at;
  return counted;
}

/** The counters after an attempt ended by itself: its interruption is taken back. */
function ended(state: StepState): Counters {
  const counted = counters(state);
  if (state.status === 'running') counted.interruptions -= 1;
  return counted;
}

export function stepStarted(spec: StepSpec, state: StepState, verdict: boolean | undefined, now: number): StepChange {
  const counted = counters(state);
  counted.attempt += 1;
  counted.interruptions += 1;
  if (verdict !== undefined) counted.verdict = verdict;
  if (counted.started_at === undefined) {
    counted.started_at = now;
    if (spec.timeout !== undefined) counted.deadline_at = now + spec.timeout;
  }
  return { type: 'step_started', step_id: spec.id, step: { ...counted, status: 'running', attempt_started_at: now } };
}

export function stepCompleted(id: string, state: StepState, output: StoredValue, log: LogSummary | undefined, now: number): StepChange {
  return {
    type: 'step_completed',
    step_id: id,
    step: { ...ended(state), status: 'completed', ended_at: now, output, ...(log === undefined ? {} : { log }) },
  };
}

export function stepWaiting(id: string, state: StepState, wakeAt: number): StepChange {
  return { type: 'step_waiting', step_id: id, step: { ...ended(state), status: 'waiting_timer', wake_at: wakeAt } };
}

/** After a failed attempt: another is scheduled, or the step has failed. */
export function stepFailedAttempt(
  spec: StepSpec,
  state: StepState,
  error: ErrorRecord,
  log: LogSummary | undefined,
  now: number,
  random: number,
): StepChange {
  const failures = state.failures + 1;
  const decision = decideRetry(error, spec.retry, failures, now, state.deadline_at, random);
  const counted = { ...ended(state), failures };
  if (decision.retry) {
    return {
      type: 'step_retry_scheduled',
      step_id: spec.id,
      step: { ...counted, status: 'retry_wait', next_retry_at: decision.next_retry_at, last_error: error },
      data: { attempt: state.attempt, max_attempts: spec.retry.max_attempts, ...(log === undefined ? {} : { log: { ...log } }) },
    };
  }
  return stepFailed(spec, { ...state, failures }, decision.why === '' ? error : { ...error, not_retried: decision.why }, log, now);
}

/** The step has failed for good. */
export function stepFailed(spec: StepSpec, state: StepState, error: ErrorRecord, log: LogSummary | undefined, now: number): StepChange {
  return {
    type: 'step_failed',
    step_id: spec.id,
    step: {
      ...ended(state),
      status: 'failed',
      ended_at: now,
      error,
      tolerated: spec.continue_on_error,
      ...(log === undefined ? {} : { log }),
    },
  };
}

export function stepSkipped(id: string, state: StepState, reason: SkipReason, verdict: boolean | undefined, now: number): StepChange {
  return {
    type: 'step_skipped',
    step_id: id,
    step: { ...counters(state), ...(verdict === undefined ? {} : { verdict }), status: 'skipped', ended_at: now, reason },
  };
}

export function stepCancelled(id: string, state: StepState, reason: string, log: LogSummary | undefined, now: number): StepChange {
  return {
    type: 'step_cancelled',
    step_id: id,
    step: { ...ended(state), status: 'cancelled', ended_at: now, reason, ...(log === undefined ? {} : { log }) },
  };
}

/** The attempt was cut short by its driver's end; its interruption stays charged. */
export function stepInterrupted(id: string, state: StepState, data: JsonObject): StepChange {
  return { type: 'step_interrupted', step_id: id, step: { ...counters(state), status: 'pending' }, data };
}

/** A new generation: counters at zero. `keepVerdict`: what its `if` read is as it was, so the verdict stands. */
export function stepReset(id: string, state: StepState, keepVerdict: boolean): StepChange {
  return {
    type: 'step_reset',
    step_id: id,
    step: {
      status: 'pending',
      generation: state.generation + 1,
      attempt: 0,
      failures: 0,
      interruptions: 0,
      ...(keepVerdict && state.verdict !== undefined ? { verdict: state.verdict } : {}),
    },
  };
}
