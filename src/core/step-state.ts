// The state of one step, as a union: each status carries exactly its data.
//
// I1. `attempt` is the number of the last attempt begun in this generation; it is stored before the attempt begins.
// I2. While an attempt runs its interruption is charged already (`interruptions` was raised in the commit that
//     marked it `running`). Ending by itself takes that charge back; dying does not. So no crash refunds an attempt
//     and no number of crashed recoveries charges one twice.
// I3. Success and failure of one step cannot coexist: they are two members of one union.
import type { ErrorRecord } from './error.js';
import type { JsonValue } from './json.js';
import type { LogSummary } from './log-summary.js';

export const STEP_STATUSES = [
  'pending',
  'running',
  'retry_wait',
  'waiting_timer',
  'completed',
  'failed',
  'skipped',
  'cancelled',
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export const TERMINAL_STEP_STATUSES = ['completed', 'failed', 'skipped', 'cancelled'] as const;
export type TerminalStepStatus = (typeof TERMINAL_STEP_STATUSES)[number];

/** A value kept by the store: in the row when small, else in a content-addressed blob. Never an in-band marker. */
export type StoredValue =
  | { in: 'row'; value: JsonValue }
  | { in: 'blob'; digest: string; bytes: number; preview: string };

/** Why a step did not run. `by` names the step that caused it, where one did. */
export type SkipReason =
  | { kind: 'condition' } // its own `if` was false
  | { kind: 'upstream_skipped'; by: string } // a need was skipped on purpose
  | { kind: 'upstream_failed'; by: string } // a need failed, or was skipped because of a failure
  | { kind: 'gate'; after: 'success' | 'failure' } // `after` asked for an ending that did not happen
  | { kind: 'stopped'; by: string }; // the session stopped starting steps after the failure of `by`

interface Counted {
  /** Grows when an operator or a changed plan asks for the step to run again. From 1. */
  generation: number;
  /** Number of the last attempt begun in this generation; 0 before the first. */
  attempt: number;
  /** Attempts of this generation that ended in failure. */
  failures: number;
  /** Attempts of this generation that were cut short (crash, Ctrl-C); includes the running one, see I2. */
  interruptions: number;
  /** Verdict of `if`, once evaluated; kept over retries and resumes, and over generations while what it read is kept. */
  verdict?: boolean;
  /** When the first attempt of this generation began, ms. */
  started_at?: number;
  /** Absolute end of the step with its retries, ms; set when the first attempt begins. */
  deadline_at?: number;
  /** The failure that the last retry answers; kept so that a waiting step can say why it waits. */
  last_error?: ErrorRecord;
}

export type StepState = Counted &
  (
    | { status: 'pending' }
    | { status: 'running'; attempt_started_at: number }
    | { status: 'retry_wait'; next_retry_at: number; last_error: ErrorRecord }
    | { status: 'waiting_timer'; wake_at: number }
    | { status: 'completed'; ended_at: number; output: StoredValue; log?: LogSummary }
    | { status: 'failed'; ended_at: number; error: ErrorRecord; tolerated: boolean; log?: LogSummary }
    | { status: 'skipped'; ended_at: number; reason: SkipReason }
    | { status: 'cancelled'; ended_at: number; reason: string; log?: LogSummary }
  );

/** The state of a step that nothing happened to yet. */
export const PENDING: StepState = Object.freeze({
  status: 'pending',
  generation: 1,
  attempt: 0,
  failures: 0,
  interruptions: 0,
});

/** What a completed step gives: its declared outputs and its result. Stored as one value. */
export interface StepOutput {
  outputs: { [name: string]: JsonValue };
  result: JsonValue;
}

export function isTerminal(state: StepState): state is Extract<StepState, { status: TerminalStepStatus }> {
  return (TERMINAL_STEP_STATUSES as readonly string[]).includes(state.status);
}
