// Words for states and times, the same in every text that people read.
import { formatDuration } from '../core/duration.js';
import type { ErrorRecord } from '../core/error.js';
import type { SkipReason, StepStatus } from '../core/step-state.js';
import { oneLine } from './safe-text.js';

/** `09:30:12`, with the date when that is another day. Local time. */
export function clockTime(at: number, now: number): string {
  const [date, time] = local(at);
  return date === local(now)[0] ? time : `${date} ${time}`;
}

/** `2026-12-01 09:30:12`, local time. */
export function dateTime(at: number): string {
  return local(at).join(' ');
}

function local(at: number): [date: string, time: string] {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  return [
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
    `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`,
  ];
}

/** `09:30:12 (in 5m 0s)`, or `(now)` once the time has come. */
export function timeAhead(at: number, now: number): string {
  return `${clockTime(at, now)} (${at > now ? `in ${formatDuration(at - now)}` : 'now'})`;
}

/** Why a step did not run. */
export function skipText(reason: SkipReason): string {
  switch (reason.kind) {
    case 'condition':
      return 'its if is false';
    case 'upstream_skipped':
      return `${reason.by} was skipped`;
    case 'upstream_failed':
      return `${reason.by} did not succeed`;
    case 'gate':
      return reason.after === 'failure' ? 'it runs only after a failure' : 'it runs only after a success';
    case 'stopped':
      return `the session stops after the failure of ${reason.by}`;
  }
}

/** The message of an error in one line, with why it was not retried. */
export function errorText(error: ErrorRecord): string {
  return oneLine(error.message) + (error.not_retried === undefined ? '' : ` (${oneLine(error.not_retried)})`);
}

/** The last lines of its output that an error keeps. */
export function errorTail(error: ErrorRecord): string[] {
  const tail = error.details?.['tail'];
  return typeof tail === 'string' ? tail.split('\n') : [];
}

/** `3 completed, 1 failed`; statuses without a step are left out. */
export function countsText(counts: { readonly [status in StepStatus]: number }): string {
  const named = Object.entries(counts).filter(([, count]) => count > 0);
  return named.length === 0 ? 'no steps' : named.map(([status, count]) => `${count} ${status}`).join(', ');
}

/** `1 step`, `2 steps` */
export function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
