// Whether a failed attempt is tried again, and when. Pure: the caller stores the answer before it waits.
import type { ErrorRecord } from './error.js';

/** The part of a step's retry policy that decides; times in ms. */
export interface RetryRule {
  max_attempts: number;
  backoff: 'exponential' | 'constant';
  delay: number;
  max_delay: number;
  jitter: boolean;
  retry_on: readonly string[];
  give_up_on: readonly string[];
}

export type RetryDecision = { retry: true; next_retry_at: number } | { retry: false; why: string };

/**
 * Decides after an attempt failed with `error`.
 * @param failures failed attempts of this generation, this one included
 * @param deadlineAt absolute end of the step, ms; a retry that could only begin after it is none
 * @param random a number in [0, 1), for the jitter
 */
export function decideRetry(
  error: ErrorRecord,
  rule: RetryRule,
  failures: number,
  now: number,
  deadlineAt: number | undefined,
  random: number,
): RetryDecision {
  // Where no retry was asked for, none needs a reason.
  if (rule.max_attempts <= 1) return { retry: false, why: '' };
  const given = rule.give_up_on.find((entry) => matchesClass(entry, error));
  if (given !== undefined) return { retry: false, why: `not retried: ${describe(error)} is in give_up_on` };
  if (!rule.retry_on.some((entry) => matchesClass(entry, error))) {
    if (error.class !== 'permanent') return { retry: false, why: `not retried: ${describe(error)} is not in retry_on` };
    const what = describe(error);
    return { retry: false, why: `not retried: ${what === 'permanent' ? 'the error' : what} is permanent, which another attempt does not mend` };
  }
  if (failures >= rule.max_attempts) {
    return { retry: false, why: `not retried: ${failures} of ${rule.max_attempts} attempts failed` };
  }
  const next = now + Math.max(backoffDelay(rule, failures, random), error.retry_after_ms ?? 0);
  if (deadlineAt !== undefined && next >= deadlineAt) {
    return { retry: false, why: 'not retried: the next attempt would begin after the timeout of the step' };
  }
  return { retry: true, next_retry_at: next };
}

/**
 * Wait before the next attempt, ms: doubles from `delay`, never below `delay`, never above `max_delay`. The jitter
 * spreads it by a fifth, so that many sessions that failed together do not come back together.
 */
export function backoffDelay(rule: RetryRule, failures: number, random: number): number {
  const grown = rule.backoff === 'constant' ? rule.delay : rule.delay * 2 ** Math.min(failures - 1, 40);
  const base = Math.min(grown, rule.max_delay);
  if (!rule.jitter) return Math.round(base);
  const low = Math.max(Math.min(rule.delay, rule.max_delay), base * 0.8);
  const high = Math.min(rule.max_delay, base * 1.2);
  return Math.round(low + (Math.max(high, low) - low) * random);
}

/** Whether an entry of retry_on or give_up_on (`transient`, `any`, `exit:75`, `http:5xx`, `signal:SIGKILL`) names this error. */
export function matchesClass(entry: string, error: ErrorRecord): boolean {
  if (entry === 'any') return error.class === 'transient' || error.class === 'timeout';
  if (entry === 'transient' || entry === 'timeout' || entry === 'permanent') return error.class === entry;
  const [kind, value = ''] = entry.split(':');
  if (kind === 'exit') return error.signal === undefined && error.exit_code === Number(value);
  if (kind === 'signal') return error.signal === value;
  if (kind === 'http' && error.http_status !== undefined) {
    return value.endsWith('xx') ? String(error.http_status)[0] === value[0] : error.http_status === Number(value);
  }
  return false;
}

function describe(error: ErrorRecord): string {
  if (error.signal !== undefined) return `signal ${error.signal}`;
  if (error.exit_code !== undefined) return `exit ${error.exit_code}`;
  if (error.http_status !== undefined) return `http ${error.http_status}`;
  return error.code;
}
