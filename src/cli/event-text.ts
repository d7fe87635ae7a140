// What an event says, for people: one line without the step's name and without colour.
import { formatDuration } from '../core/duration.js';
import type { PlanEvent } from '../core/event.js';
import type { JsonValue } from '../core/json.js';
import type { StepState } from '../core/step-state.js';
import { oneLine } from './safe-text.js';
import { clockTime, errorText, plural, skipText, timeAhead } from './words.js';

/**
 * The text of an event; '' when its type says it all.
 * The time of a step counts from its first attempt, hours of standstill included, as `plan show` counts it.
 * @param since when this drive began with a step that an earlier one had begun; told beside it
 */
export function eventText(event: PlanEvent, since?: number): string {
  return event.step === undefined ? sessionText(event) : stepText(event, event.step, since);
}

function stepText(event: PlanEvent, step: StepState, since: number | undefined): string {
  const took = (before: string) => tookText(step, event.at, since, before);
  switch (event.type) {
    case 'step_started':
      return step.attempt > 1 ? `started, attempt ${step.attempt}` : 'started';
    case 'step_completed':
      return `completed${took(' in ')}`;
    case 'step_failed':
      if (step.status !== 'failed') return 'failed';
      return `failed${took(' after ')}${step.tolerated ? ', tolerated' : ''}: ${errorText(step.error)}`;
    case 'step_retry_scheduled':
      if (step.status !== 'retry_wait') return 'tries again';
      return `attempt ${step.attempt}${ofMost(event)} failed: ${errorText(step.last_error)}; next try at ${timeAhead(step.next_retry_at, event.at)}`;
    case 'step_waiting':
      return step.status === 'waiting_timer' ? `waits until ${timeAhead(step.wake_at, event.at)}` : 'waits';
    case 'step_skipped':
      return step.status === 'skipped' ? `skipped: ${skipText(step.reason)}` : 'skipped';
    case 'step_cancelled':
      return step.status === 'cancelled' ? cancelledText(step.reason) : 'cancelled';
    case 'step_interrupted':
      return `interrupted${reasonOf(event.data?.['why'])}`;
    case 'step_reset':
      return `runs again, generation ${step.generation}`;
    default:
      return step.status;
  }
}

function sessionText(event: PlanEvent): string {
  const { data, session } = event;
  switch (event.type) {
    case 'session_created':
      return `plan ${word(data?.['plan_name'])} from ${word(data?.['plan_file'])}`;
    case 'lease_acquired':
      return `${data?.['took_over'] === true ? `taken over from ${holderText(data['from'])} ` : ''}by ${holderText(data?.['holder'])}`;
    case 'session_waiting':
      return typeof data?.['wake_at'] === 'number' ? `until ${timeAhead(data['wake_at'], event.at)}${data['step'] === undefined ? '' : `, for ${word(data['step'])}`}` : '';
    case 'session_paused':
      return `${word(data?.['attempts_used'])} of ${word(data?.['attempts_limit'])} attempts are spent`;
    case 'session_ending':
      return `${session?.ending ?? 'ends'}${reasonOf(data?.['why'])}`;
    case 'session_retried':
      return `${typeof data?.['count'] === 'number' ? plural(data['count'], 'step') : 'steps'} to run again${data?.['actor'] === 'resume' || data?.['actor'] === undefined ? '' : `, asked by ${word(data['actor'])}`}`;
    case 'budget_raised':
      return `${word(data?.['attempts'])} more attempts than ${word(data?.['from'])}`;
    case 'concurrency_limited':
      return `${word(data?.['at_once'])} steps at once instead of ${word(data?.['concurrency'])}, since this process may open ${word(data?.['open_files'])} files; to allow more: ulimit -n`;
    case 'cancel_requested':
      return `by ${word(data?.['actor'])}${reasonOf(data?.['reason'])}`;
    case 'session_failed':
    case 'session_expired':
    case 'session_dead_letter':
      return session?.error == null ? '' : `${session.error.step_id === undefined ? '' : `${session.error.step_id}: `}${errorText(session.error)}`;
    default:
      return '';
  }
}

/** `cancelled by …`, whatever words the reason begins with. */
export function cancelledText(reason: string): string {
  const text = oneLine(reason);
  return text.startsWith('cancelled') ? text : `cancelled: ${text}`;
}

/** `process 12 on host` */
export function holderText(holder: unknown): string {
  const { pid, host } = (holder ?? {}) as { pid?: unknown; host?: unknown };
  return `process ${String(pid)} on ${oneLine(String(host), 100)}`;
}

/** One line of `plan events`: number, time, type, step, what it says. */
export function eventLine(event: PlanEvent, now: number): string {
  const text = eventText(event);
  return `${String(event.seq).padStart(5)}  ${clockTime(event.at, now)}  ${event.type.padEnd(20)}  ${event.step_id ?? ''}${event.step_id === undefined || text === '' ? '' : ': '}${text}`.trimEnd();
}

function tookText(step: StepState, at: number, since: number | undefined, before: string): string {
  if (step.started_at === undefined) return '';
  const end = 'ended_at' in step ? step.ended_at : at;
  const here = since === undefined ? '' : ` (${formatDuration(Math.max(0, end - since))} in this run)`;
  return before + formatDuration(Math.max(0, end - step.started_at)) + here;
}

function ofMost(event: PlanEvent): string {
  const most = event.data?.['max_attempts'];
  return typeof most === 'number' ? ` of ${most}` : '';
}

function reasonOf(why: JsonValue | undefined): string {
  return typeof why === 'string' && why !== '' ? `: ${oneLine(why)}` : '';
}

function word(value: JsonValue | undefined): string {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value ?? null), 200);
}
