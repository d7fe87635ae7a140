// Rows as SQLite gives them, and what they mean; the only place where columns become values.
import { StoreError } from '../../core/error.js';
import type { CommitReason, EventType, PlanEvent } from '../../core/event.js';
import type { StepUpdate } from '../../core/merge.js';
import type { CancelRequest, SessionStart, SessionState } from '../../core/session-state.js';
import type { StepState, StepStatus } from '../../core/step-state.js';
import type { Checkpoint, Lease, LeaseHolder, SessionSummary } from '../store.js';

export interface SessionRow {
  session_id: string;
  start_json: string;
  state_json: string;
  cancel_json: string | null;
  last_seq: number;
  epoch: number;
  updated_at: number;
  updates_since_snapshot: number;
  snapshot_steps: number;
  lease_epoch: number | null;
  expires_at: number | null;
  holder_json: string | null;
}

export interface EventRow {
  session_id: string;
  seq: number;
  epoch: number;
  at: number;
  type: string;
  step_id: string | null;
  data_json: string | null;
  session_json: string | null;
  step_json: string | null;
}

export interface StepRow {
  step_id: string;
  generation: number;
  epoch: number;
  seq: number;
  status: StepStatus;
  state_json: string | null;
}

export interface CheckpointRow {
  seq: number;
  epoch: number;
  at: number;
  reason: string;
  state_json: string;
  steps_json: string;
}

/** A step update as a checkpoint keeps it: `state` is null when it is long, and read from event `seq`. */
export type StoredStep = Omit<StepUpdate, 'state'> & { state: StepState | null };

/** Stored JSON as a value; StoreError `corrupt` naming the place when it is none. */
export function parseStored<T>(text: string, place: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new StoreError('corrupt', `the store is damaged: ${place} holds no JSON; restore a backup`, { cause });
  }
}

export function leaseOf(row: Pick<SessionRow, 'session_id' | 'lease_epoch' | 'expires_at' | 'holder_json'>): Lease | undefined {
  if (row.lease_epoch === null || row.expires_at === null || row.holder_json === null) return undefined;
  const holder = parseStored<LeaseHolder>(row.holder_json, `leases of session ${row.session_id}`);
  return { session_id: row.session_id, holder, epoch: row.lease_epoch, expires_at: row.expires_at };
}

export function cancelOf(row: { session_id?: string; cancel_json: string | null }): CancelRequest | undefined {
  return row.cancel_json === null ? undefined : parseStored<CancelRequest>(row.cancel_json, 'session_states.cancel_json');
}

export function stateOf(row: Pick<SessionRow, 'session_id' | 'state_json'>): SessionState {
  return parseStored<SessionState>(row.state_json, `session_states.state_json of session ${row.session_id}`);
}

export function summaryOf(row: SessionRow): SessionSummary {
  const lease = leaseOf(row);
  const cancel = cancelOf(row);
  return {
    start: parseStored<SessionStart>(row.start_json, `sessions.start_json of session ${row.session_id}`),
    state: stateOf(row),
    updated_at: row.updated_at,
    ...(lease ? { lease } : {}),
    ...(cancel ? { cancel } : {}),
  };
}

export function eventOf(row: EventRow): PlanEvent {
  const place = `event ${row.seq} of session ${row.session_id}`;
  return {
    session_id: row.session_id,
    seq: row.seq,
    at: row.at,
    epoch: row.epoch,
    type: row.type as EventType,
    ...(row.step_id === null ? {} : { step_id: row.step_id }),
    ...(row.step_json === null ? {} : { step: parseStored<StepState>(row.step_json, place) }),
    ...(row.session_json === null ? {} : { session: parseStored<NonNullable<PlanEvent['session']>>(row.session_json, place) }),
    ...(row.data_json === null ? {} : { data: parseStored<NonNullable<PlanEvent['data']>>(row.data_json, place) }),
  };
}

export function checkpointOf(row: CheckpointRow, sessionId: string, steps: StepUpdate[]): Checkpoint {
  return {
    seq: row.seq,
    reason: row.reason as CommitReason,
    at: row.at,
    epoch: row.epoch,
    state: parseStored<SessionState>(row.state_json, `checkpoint ${row.seq} of session ${sessionId}`),
    steps,
  };
}
