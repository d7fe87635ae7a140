// `wait`: nothing to do until a time. The attempt ends at once; the step waits and holds no worker.
import { parseDuration } from '../core/duration.js';
import { ActionError } from '../core/error.js';
import type { StepOutput } from '../core/step-state.js';
import type { WaitAction } from '../plan/plan.js';
import type { Action, AttemptContext } from './action.js';
import { asActionError } from './as-action-error.js';

const ISO_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i;
// The last moment that a Date can hold.
const LAST_TIME = 8.64e15;

export const waitAction: Action<WaitAction> = {
  kind: 'wait',
  async execute(action, context) {
    try {
      const wakeAt = wakeTime(action, context);
      const output: StepOutput = { outputs: {}, result: null };
      return wakeAt <= (action.until === undefined ? context.now() : context.clock.now()) ? { kind: 'completed', output } : { kind: 'waiting_timer', wake_at: wakeAt, output };
    } catch (error) {
      throw asActionError(error, context.masker);
    }
  },
};

function wakeTime(action: WaitAction, context: AttemptContext): number {
  if (action.until !== undefined) {
    const text = context.resolve.text(action.until, 'wait.until').trim();
    const time = ISO_TIME.test(text) ? Date.parse(text.replace(' ', 'T').replace(',', '.')) : NaN;
    if (!Number.isNaN(time)) return time;
    throw invalid('invalid_time', `wait.until: expected a time with its offset such as 2026-12-01T09:30:00Z, found ${JSON.stringify(text)}`);
  }
  const text = context.resolve.text(action.for ?? '', 'wait.for').trim();
  const ms = parseDuration(text);
  if (ms !== undefined) return Math.min(context.now() + ms, LAST_TIME);
  throw invalid('invalid_duration', `wait.for: expected a duration with a unit such as 30s or 1h30m, found ${JSON.stringify(text)}`);
}

function invalid(code: string, message: string): ActionError {
  return new ActionError({ class: 'permanent', code, message });
}
