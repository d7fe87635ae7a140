// When a step that waits goes on, and what its time means when it comes.
import type { StepState } from '../core/step-state.js';
import type { StepSpec } from '../plan/plan.js';
import { stepCompleted, stepFailed, type StepChange } from './step-change.js';
import type { TimerQueue } from './timer-queue.js';

/** Sets the timer of a step that waits; nothing for one that does not. `now`: the drive's time. */
export function setTimer(timers: TimerQueue, spec: StepSpec, state: StepState, now: number): void {
  if (state.status === 'retry_wait') {
    // Stored by a driver whose clock was ahead, it may lie further away than any wait of the policy.
    const longest = Math.max(spec.retry.max_delay, state.last_error.retry_after_ms ?? 0);
    timers.set(spec.id, Math.min(state.next_retry_at, now + longest));
  }
  if (state.status !== 'waiting_timer') return;
  if (state.deadline_at !== undefined) timers.set(spec.id, state.deadline_at);
  if (waitsForCalendar(spec)) timers.setWall(spec.id, state.wake_at);
  else timers.set(spec.id, Math.min(state.wake_at, state.deadline_at ?? Infinity));
}

/** What became of a step whose wait ended: completed, or failed when its deadline came first. */
export function wokenStep(spec: StepSpec, state: Extract<StepState, { status: 'waiting_timer' }>, now: { steady: number; wall: number }): StepChange {
  const arrived = state.wake_at <= (waitsForCalendar(spec) ? now.wall : now.steady);
  if (arrived) return stepCompleted(spec.id, state, { in: 'row', value: { outputs: {}, result: null } }, undefined, now.steady);
  return stepFailed(spec, state, { class: 'timeout', code: 'step_timeout', message: 'the wait would end after the timeout of the step' }, undefined, now.steady);
}

/** `wait: until` names a moment of the calendar; `wait: for` a length of time. */
function waitsForCalendar({ action }: StepSpec): boolean {
  return action.kind === 'wait' && action.until !== undefined;
}
