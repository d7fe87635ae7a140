// The state of one session (one run of one plan).
import type { ErrorRecord } from './error.js';
import type { JsonObject } from './json.js';
import type { StoredValue } from './step-state.js';

export const SESSION_STATUSES = [
  'ready',
  'running',
  'retry_wait',
  'waiting_timer',
  'paused_budget',
  'completed',
  'failed',
  'cancelled',
  'expired',
  'dead_letter',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

export const TERMINAL_SESSION_STATUSES = ['completed', 'failed', 'cancelled', 'expired', 'dead_letter'] as const;
export type TerminalSessionStatus = (typeof TERMINAL_SESSION_STATUSES)[number];

/** Someone asked for the session to end. A stored fact: any process that drives the session obeys it. */
export interface CancelRequest {
  requested_at: number;
  actor: string;
  reason: string;
  /** A later request, made while the `finally` steps of the cancelled session ran: they are ended too. */
  ends_finally?: { requested_at: number; actor: string; reason: string };
}

export interface SessionState {
  status: SessionStatus;
  /** How the steps ended, once that is decided; `finally` steps run after it, and no resume decides it anew. */
  ending?: TerminalSessionStatus;
  /** Grows with every `plan retry` (and every resume of a failed session). From 1. */
  generation: number;
  /** Absolute end of the session, ms. */
  deadline_at?: number;
  /** Attempts begun in the whole session, and how many may be. */
  attempts_used: number;
  attempts_limit?: number;
  ended_at?: number;
  outputs?: StoredValue;
  /** The root cause of a session that did not complete. */
  error?: ErrorRecord;
}

/** What a session was started with; written once, never changed. Secrets are never in it. */
export interface SessionStart {
  session_id: string;
  plan_hash: string;
  plan_name: string;
  created_at: number;
  params: JsonObject;
  /** Values of the host's environment variables that the plan reads, taken at the start; null = was not set. */
  host_env: { [name: string]: string | null };
  /** Absolute folder that relative paths of the plan start from: the plan file's own folder. */
  base_dir: string;
  /** Path of the plan file as the user gave it, for messages. */
  plan_file: string;
}

export function isTerminalSession(status: SessionStatus): status is TerminalSessionStatus {
  return (TERMINAL_SESSION_STATUSES as readonly string[]).includes(status);
}
