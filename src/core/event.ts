// Events: append-only, one per change, numbered by seq within a session.
import type { JsonObject } from './json.js';
import type { SessionState } from './session-state.js';
import type { StepState } from './step-state.js';

export const EVENT_TYPES = [
  'session_created',
  'lease_acquired', // a process began to drive the session; data: holder, took_over
  'session_resumed',
  'session_waiting', // nothing runs; data says until when or for what
  'session_paused', // budget spent
  'session_interrupted', // its driver stopped on purpose and left it resumable
  'session_ending', // how the steps ended is decided; `finally` runs now
  'session_completed',
  'session_failed',
  'session_cancelled',
  'session_expired',
  'session_dead_letter',
  'session_retried', // an operator asked for steps to run again; data: steps, actor
  'budget_raised',
  'concurrency_limited', // the process may open too few files; data: concurrency, at_once, open_files
  'cancel_requested',
  'step_started',
  'step_completed',
  'step_failed',
  'step_retry_scheduled',
  'step_waiting',
  'step_skipped',
  'step_cancelled',
  'step_interrupted',
  'step_reset', // new generation
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** One change: the event, and the state it leads to. Written together or not at all. */
export interface Change {
  type: EventType;
  step_id?: string;
  /** The step's whole new state. */
  step?: StepState;
  /** Members of the session's state that changed; null removes one. */
  session?: { [K in keyof SessionState]?: SessionState[K] | null };
  /** What else an operator needs to understand the event. */
  data?: JsonObject;
}

export interface PlanEvent extends Change {
  session_id: string;
  /** Grows by one with every event of the session; orders everything. */
  seq: number;
  /** Wall time, ms; for people. */
  at: number;
  epoch: number;
}

/** Why the store was written; every commit carries one. */
export const COMMIT_REASONS = [
  'session_start',
  'session_resume',
  'step_start',
  'step_end',
  'layer_end',
  'before_retry_wait',
  'timer_wait',
  'pause',
  'interrupt',
  'cancel',
  'retry',
  'session_end',
] as const;
export type CommitReason = (typeof COMMIT_REASONS)[number];
