// What a caller holds while a session is driven.
import type { ErrorRecord } from '../core/error.js';
import type { PlanEvent } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import type { SessionStatus } from '../core/session-state.js';
import type { StepStatus } from '../core/step-state.js';

/** One whole line that a step wrote, masked. */
export interface OutputLine {
  step_id: string;
  attempt: number;
  /** `stderr` of a command whose stdout is captured; else `output`: all that was written, in the order it came. */
  stream: 'output' | 'stderr';
  line: string;
}

/** Where a session stands when its driver leaves it. */
export interface SessionResult {
  session_id: string;
  status: SessionStatus;
  /** True when the driver stopped on request; the session is resumable. */
  interrupted: boolean;
  /** Values of the plan's `outputs`; only of a completed session. */
  outputs?: JsonObject;
  /** The root cause of a session that did not complete. */
  error?: ErrorRecord;
  /** How many steps are in each status. */
  counts: { [status in StepStatus]: number };
  /** When a waiting session goes on, ms since the epoch. */
  wake_at?: number;
  created_at: number;
  ended_at?: number;
}

/**
 * A session being driven. Iterate it for its events, from the first event of this drive to the last; the events come
 * from the store, so a slow reader costs no memory. The work does not depend on anybody reading.
 */
export interface SessionHandle extends AsyncIterable<PlanEvent> {
  readonly session_id: string;
  /** Rejects with UsageError, SessionHeldError, StaleEpochError or StoreError. */
  readonly result: Promise<SessionResult>;
  /** Stops starting steps, ends the running ones (TERM, grace, KILL), saves; the session stays resumable. */
  stop(): void;
  /** As stop, but without grace. */
  kill(): void;
}

/** Options of everything that drives a session. */
export interface DriveOptions {
  /** Abort = `stop()`: the session stays resumable. It is not a cancel. */
  signal?: AbortSignal;
  /** Leave (status waiting) when nothing runs and the next timer is further away than this; default: wait. */
  maxWaitMs?: number;
  onOutput?: (line: OutputLine) => void;
}

export interface RunOptions extends DriveOptions {
  params?: JsonObject;
  /** Default: a new id. UsageError `session_exists` when taken. */
  sessionId?: string;
}

export interface ResumeOptions extends DriveOptions {
  /** Raises the budget of the session before it goes on. */
  addBudget?: { attempts?: number };
}

export interface RetryOptions extends DriveOptions {
  /** Steps to run again with all their descendants; default: those that failed, were cancelled or never ran. */
  from?: string[];
  actor?: string;
}

export interface CancelOptions {
  actor: string;
  reason: string;
}

/** `requested`: it is stored, and the driver of the session ends it. `ended`: the session has ended, here or there. */
export interface CancelResult {
  outcome: 'requested' | 'ended';
  status: SessionStatus;
  /** Of a requested cancel: whether the driver has begun to end the session. */
  answered?: boolean;
  /** True when the session was being cancelled already: its `finally` steps are ended too. */
  ends_finally?: boolean;
}
