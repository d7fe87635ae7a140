// Errors: their class decides what happens next, before anything else looks at them.
import type { JsonObject } from './json.js';
import type { LogSummary } from './log-summary.js';

/**
 * permanent: never retried. transient: retried while the policy allows. timeout: an attempt ran out of time
 * (a transient of its own, so that `retry_on` can name it). cancelled: somebody asked. interrupted: the driver went
 * away. stale: the lease was lost. budget: nothing left to spend.
 */
export const ERROR_CLASSES = ['permanent', 'transient', 'timeout', 'cancelled', 'interrupted', 'stale', 'budget'] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

/** An error as it is stored and shown; secrets are masked before it is made. */
export interface ErrorRecord {
  class: ErrorClass;
  /** Stable word for programs: `exit`, `signal`, `timeout`, `http`, `cwd_missing`, `check_failed`, … */
  code: string;
  /** One line: what was expected, what was found, what to do. */
  message: string;
  exit_code?: number;
  signal?: string;
  http_status?: number;
  /** What the target asked for by Retry-After, ms from the response. */
  retry_after_ms?: number;
  /** The step where it happened, on session level. */
  step_id?: string;
  /** Why it was not retried, when a policy said so: `not retried: exit 2`. */
  not_retried?: string;
  details?: JsonObject;
}

/** Thrown by actions. Everything else that an action throws is made one by `asActionError`. */
export class ActionError extends Error {
  readonly record: ErrorRecord;
  /** What the attempt wrote before it failed. */
  readonly log?: LogSummary;
  constructor(record: ErrorRecord, options?: { cause?: unknown; log?: LogSummary }) {
    super(record.message, options);
    this.name = 'ActionError';
    this.record = record;
    if (options?.log !== undefined) this.log = options.log;
  }
}

/** A `call` function throws this for what no retry can mend (bad arguments, permission, policy). */
export class PermanentError extends ActionError {
  constructor(message: string, details?: JsonObject) {
    super({ class: 'permanent', code: 'permanent', message, ...(details ? { details } : {}) });
    this.name = 'PermanentError';
  }
}

/** A `call` function throws this for what may pass; `retryAfterMs` is the least time to wait. */
export class TransientError extends ActionError {
  constructor(message: string, options: { retryAfterMs?: number; details?: JsonObject } = {}) {
    super({
      class: 'transient',
      code: 'transient',
      message,
      ...(options.retryAfterMs === undefined ? {} : { retry_after_ms: options.retryAfterMs }),
      ...(options.details ? { details: options.details } : {}),
    });
    this.name = 'TransientError';
  }
}

/** The user asked for something that cannot be: unknown session, missing secret, wrong state. Exit code 2. */
export class UsageError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'UsageError';
    this.code = code;
  }
}

/** Another process drives the session. Exit code 6. */
export class SessionHeldError extends Error {
  readonly sessionId: string;
  readonly holder: JsonObject;
  constructor(sessionId: string, message: string, holder: JsonObject) {
    super(message);
    this.name = 'SessionHeldError';
    this.sessionId = sessionId;
    this.holder = holder;
  }
}

/** A write carried an older epoch than the session's: its writer lost the lease and must stop. */
export class StaleEpochError extends Error {
  constructor(sessionId: string, epoch: number, current: number) {
    super(
      epoch === current
        ? `session ${sessionId}: its lease (epoch ${epoch}) was given up, so nothing more is written under it; take the session again`
        : `session ${sessionId}: this process lost the session (its epoch ${epoch} is older than ${current}); another process drives it now`,
    );
    this.name = 'StaleEpochError';
  }
}

/** A start was refused in its own transaction because the session is being cancelled. */
export class CancelRequestedError extends Error {
  constructor(sessionId: string) {
    super(`session ${sessionId} is being cancelled: nothing more may start`);
    this.name = 'CancelRequestedError';
  }
}

export const STORE_FAULTS = ['newer', 'corrupt', 'full', 'read_only', 'busy', 'io', 'closed', 'not_a_store', 'gone'] as const;
export type StoreFault = (typeof STORE_FAULTS)[number];

/**
 * The store refused: newer, corrupt, full, read-only, busy for too long, an I/O error, or its file was deleted,
 * replaced or cut while it was open (`gone`). Exit code 7.
 */
export class StoreError extends Error {
  readonly fault: StoreFault;
  constructor(fault: StoreFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StoreError';
    this.fault = fault;
  }
}
