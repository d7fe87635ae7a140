// The error of an attempt whose signal aborted: its class follows from the cause.
import { formatDuration } from '../core/duration.js';
import { ActionError, type ErrorRecord } from '../core/error.js';
import type { JsonObject } from '../core/json.js';
import type { LogSummary } from '../core/log-summary.js';
import type { AbortCause } from './action.js';

const LIMITS = {
  attempt_timeout: 'the attempt was not done within `attempt_timeout`',
  step_timeout: 'the step with its retries was not done within `timeout`',
  session_timeout: 'the session was not done within the `timeout` of the plan',
} as const;

/** Makes the error of `signal.reason`; a reason that is no AbortCause counts as an interruption. */
export function abortError(signal: AbortSignal, options: { log?: LogSummary; details?: JsonObject } = {}): ActionError {
  const record = abortRecord(signal.reason as Partial<AbortCause> | undefined);
  const details = { ...record.details, ...options.details };
  return new ActionError(
    Object.keys(details).length === 0 ? record : { ...record, details },
    options.log === undefined ? {} : { log: options.log },
  );
}

/**
 * The error of an attempt whose signal aborted and that could not be ended: its code still runs in this process.
 * Permanent where it is a failure, so that no attempt begins beside it; a cancel and an interruption stay what they are.
 */
export function stillRunningError(signal: AbortSignal): ActionError {
  const record = abortRecord(signal.reason as Partial<AbortCause> | undefined);
  if (record.class !== 'timeout') return new ActionError(record);
  const message = `${record.message.replace(/ and was ended$/, '')}; it does not obey its signal and still runs in this process, so no other attempt is begun beside it; make it end when context.signal aborts`;
  return new ActionError({ ...record, class: 'permanent', code: 'still_running', message });
}

function abortRecord(reason: Partial<AbortCause> | undefined): ErrorRecord {
  const cause = (typeof reason === 'object' && reason !== null ? reason : {}) as AbortCause;
  switch (cause.kind) {
    case 'attempt_timeout':
    case 'step_timeout':
    case 'session_timeout':
      return { class: 'timeout', code: 'timeout', message: `${LIMITS[cause.kind]} (${formatDuration(cause.limit_ms)}) and was ended`, details: { limit: cause.kind, limit_ms: cause.limit_ms } };
    case 'cancelled':
      return { class: 'cancelled', code: 'cancelled', message: `cancelled by ${cause.actor}${cause.reason === '' ? '' : `: ${cause.reason}`}` };
    case 'lease_lost':
      return { class: 'stale', code: 'lease_lost', message: 'this process lost the session to another one, so the attempt was ended' };
    default:
      return { class: 'interrupted', code: 'interrupted', message: 'the attempt was interrupted; resume the session to run it again' };
  }
}
