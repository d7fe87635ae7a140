// The one table of states: every change of a step or a session is one of these rows. `docs/states.md` is generated
// from it, and nothing is written that is not in it.
import type { EventType } from './event.js';
import type { SessionStatus } from './session-state.js';
import type { StepStatus } from './step-state.js';

export interface Transition<Status> {
  event: EventType;
  from: readonly Status[];
  to: Status;
  /** Who makes it. */
  by: string;
  /** What is checked first. */
  checked: string;
  /** What is saved with it. */
  saved: string;
  /** What an operator can do next. */
  then: string;
}

const ENDED_UNSUCCESSFUL = ['failed', 'cancelled', 'expired', 'dead_letter'] as const;
const OPEN_STEP = ['pending', 'retry_wait', 'waiting_timer'] as const;
const OPEN_SESSION = ['ready', 'running', 'retry_wait', 'waiting_timer', 'paused_budget'] as const;

export const STEP_TRANSITIONS: readonly Transition<StepStatus>[] = [
  { event: 'step_started', from: ['pending', 'retry_wait'], to: 'running', by: 'the driver', checked: 'lease, no cancel stored, gate open, `if` true, budget left, retry time come', saved: 'attempt number, interruption charged, deadline, verdict', then: 'plan cancel' },
  { event: 'step_completed', from: ['running', 'waiting_timer'], to: 'completed', by: 'the driver', checked: 'lease; outputs declared, typed, JSON, within limits', saved: 'outputs and result, log summary, interruption taken back', then: 'plan logs, plan show' },
  { event: 'step_failed', from: ['running', 'retry_wait', 'pending', 'waiting_timer'], to: 'failed', by: 'the driver', checked: 'lease; error class, retry policy, deadline', saved: 'error, log summary, failure charged', then: 'plan resume or plan retry' },
  { event: 'step_retry_scheduled', from: ['running'], to: 'retry_wait', by: 'the driver', checked: 'lease; retry_on, give_up_on, max_attempts, deadline', saved: 'next_retry_at, failure charged, the error', then: 'plan cancel' },
  { event: 'step_waiting', from: ['running'], to: 'waiting_timer', by: 'the driver', checked: 'lease', saved: 'wake_at', then: 'plan cancel' },
  { event: 'step_skipped', from: ['pending'], to: 'skipped', by: 'the driver', checked: 'lease; how the needs ended, `after`, `if`, on_failure', saved: 'the reason and the step that caused it', then: 'plan show' },
  { event: 'step_cancelled', from: ['running', ...OPEN_STEP], to: 'cancelled', by: 'the driver', checked: 'a stored cancel, or the session deadline; its processes are gone', saved: 'the reason', then: 'plan retry' },
  { event: 'step_interrupted', from: ['running'], to: 'pending', by: 'the driver that stops, or the one that takes over', checked: 'lease; its processes are gone', saved: 'the interruption stays charged', then: 'plan resume' },
  { event: 'step_reset', from: ['pending', 'retry_wait', 'waiting_timer', 'completed', 'failed', 'skipped', 'cancelled'], to: 'pending', by: 'an operator (plan retry, plan resume of a failed session)', checked: 'lease; the session ended and did not complete', saved: 'generation + 1, counters at zero; verdict of `if` kept where what it read is kept', then: 'plan cancel' },
];

export const SESSION_TRANSITIONS: readonly Transition<SessionStatus>[] = [
  { event: 'session_resumed', from: OPEN_SESSION, to: 'running', by: 'plan resume', checked: 'lease free, expired, or its holder dead; secrets set; orphans ended', saved: 'who drives it, epoch + 1', then: 'plan cancel' },
  { event: 'session_waiting', from: ['running', 'retry_wait', 'waiting_timer'], to: 'retry_wait', by: 'the driver', checked: 'nothing runs; the earliest timer is a retry', saved: 'wake_at', then: 'plan resume, plan cancel' },
  { event: 'session_waiting', from: ['running', 'retry_wait', 'waiting_timer'], to: 'waiting_timer', by: 'the driver', checked: 'nothing runs; the earliest timer is a wait', saved: 'wake_at', then: 'plan resume, plan cancel' },
  { event: 'step_started', from: ['retry_wait', 'waiting_timer', 'running'], to: 'running', by: 'the driver', checked: 'as for the step', saved: 'attempts_used + 1', then: 'plan cancel' },
  { event: 'step_completed', from: ['retry_wait', 'waiting_timer'], to: 'running', by: 'the driver', checked: 'the time of a wait came', saved: 'as for the step', then: 'plan cancel' },
  { event: 'session_paused', from: ['running', 'retry_wait', 'waiting_timer'], to: 'paused_budget', by: 'the driver', checked: 'budget.attempts is spent, nothing runs', saved: 'what was spent', then: 'plan resume S --add-budget attempts=N' },
  { event: 'session_interrupted', from: OPEN_SESSION, to: 'ready', by: 'the driver, on Ctrl-C or an abort signal', checked: 'its processes are gone', saved: 'interrupted steps', then: 'plan resume' },
  { event: 'session_completed', from: ['running', 'retry_wait', 'waiting_timer'], to: 'completed', by: 'the driver', checked: 'every step ended, none failed untolerated; outputs resolve', saved: 'outputs', then: 'plan show' },
  { event: 'session_failed', from: ['running', 'retry_wait', 'waiting_timer'], to: 'failed', by: 'the driver', checked: 'every step ended', saved: 'root cause', then: 'plan resume, plan retry' },
  { event: 'session_cancelled', from: OPEN_SESSION, to: 'cancelled', by: 'the driver, or plan cancel where nobody drives', checked: 'a stored cancel; its processes are gone', saved: 'who, why', then: 'plan retry' },
  { event: 'session_expired', from: OPEN_SESSION, to: 'expired', by: 'the driver', checked: 'the deadline passed; its processes are gone', saved: 'the deadline', then: 'plan retry (a new deadline)' },
  { event: 'session_dead_letter', from: OPEN_SESSION, to: 'dead_letter', by: 'the driver that takes over', checked: 'a step was interrupted max_interruptions times', saved: 'the step and its counters', then: 'plan retry' },
  { event: 'session_retried', from: ENDED_UNSUCCESSFUL, to: 'running', by: 'plan retry, plan resume of a failed session', checked: 'lease; secrets set', saved: 'the steps that run again, new deadline', then: 'plan cancel' },
];

/** A change that the table does not have: a fault of the program, never of a plan. */
export class IllegalTransition extends Error {
  constructor(what: string, from: string, event: string, to: string) {
    super(`${what}: "${from}" cannot become "${to}" by ${event}`);
    this.name = 'IllegalTransition';
  }
}

const index = <S extends string>(table: readonly Transition<S>[]) =>
  new Set(table.flatMap((row) => row.from.map((from) => `${row.event} ${from} ${row.to}`)));
const STEP_INDEX = index(STEP_TRANSITIONS);
const SESSION_INDEX = index(SESSION_TRANSITIONS);

export function assertStepTransition(stepId: string, from: StepStatus, event: EventType, to: StepStatus): void {
  if (!STEP_INDEX.has(`${event} ${from} ${to}`)) throw new IllegalTransition(`step ${stepId}`, from, event, to);
}

export function assertSessionTransition(from: SessionStatus, event: EventType, to: SessionStatus): void {
  if (!SESSION_INDEX.has(`${event} ${from} ${to}`)) throw new IllegalTransition('session', from, event, to);
}
