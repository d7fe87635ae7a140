// Rows as SQLite gives them, and what they mean; the only place where columns become values.
import type { CommitReason, EventType, PlanEvent } from '../../core/event.js';
import type { StepUpdate } from '../../core/merge.js';
import type { CancelRequest, SessionStart, SessionState } from '../../core/session-state.js';
import type { StepState, StepStatus } from '../../core/step-state.js';
import type { Checkpoint, Lease, LeaseHolder, SessionSummary } from '../store.js';
import * as shapes from './stored-shape.js';
import type { Shape } from './stored-shape.js';

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

/** A row that no program like this wrote. The store tells it as StoreError `corrupt`, with its own place. */
export class DamagedRow extends Error {
  constructor(place: string, what: string, options?: { cause?: unknown }) {
    super(`${place}: ${what}`, options);
    this.name = 'DamagedRow';
  }
}

/** Stored JSON as a value of a shape; DamagedRow naming the place when it is none. */
export function parseStored<T>(text: string, shape: Shape, place: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DamagedRow(place, `holds no JSON (${(cause as Error).message})`, { cause });
  }
  return checked<T>(value, shape, place);
}

function checked<T>(value: unknown, shape: Shape, place: string, path = ''): T {
  const wrong = shape(value, path);
  if (wrong !== undefined) throw new DamagedRow(place, wrong);
  return value as T;
}

export function leaseOf(row: Pick<SessionRow, 'session_id' | 'lease_epoch' | 'expires_at' | 'holder_json'>): Lease | undefined {
  if (row.lease_epoch === null || row.expires_at === null || row.holder_json === null) return undefined;
  const place = `leases, session ${row.session_id}`;
  const holder = parseStored<LeaseHolder>(row.holder_json, shapes.leaseHolder, `${place}, holder_json`);
  const expires_at = checked<number>(row.expires_at, shapes.time, place, 'expires_at');
  return { session_id: row.session_id, holder, epoch: checked<number>(row.lease_epoch, shapes.count, place, 'epoch'), expires_at };
}

export function cancelOf(row: { session_id: string; cancel_json: string | null }): CancelRequest | undefined {
  return row.cancel_json === null ? undefined : parseStored<CancelRequest>(row.cancel_json, shapes.cancelRequest, `session_states, session ${row.session_id}, cancel_json`);
}

export function stateOf(row: Pick<SessionRow, 'session_id' | 'state_json'>): SessionState {
  return parseStored<SessionState>(row.state_json, shapes.sessionState, `session_states, session ${row.session_id}, state_json`);
}

/** The numbers of a session's row. DamagedRow. */
export function checkNumbers(row: Omit<SessionRow, 'start_json'>): void {
  const place = `session_states, session ${row.session_id}`;
  for (const name of ['last_seq', 'epoch', 'updates_since_snapshot', 'snapshot_steps'] as const) checked(row[name], shapes.count, place, name);
  checked(row.updated_at, shapes.time, place, 'updated_at');
}

export function summaryOf(row: SessionRow): SessionSummary {
  checkNumbers(row);
  const lease = leaseOf(row);
  const cancel = cancelOf(row);
  return {
    start: parseStored<SessionStart>(row.start_json, shapes.sessionStart, `sessions, session ${row.session_id}, start_json`),
    state: stateOf(row),
    updated_at: row.updated_at,
    ...(lease ? { lease } : {}),
    ...(cancel ? { cancel } : {}),
  };
}

export function eventOf(row: EventRow): PlanEvent {
  const place = `events, session ${row.session_id}, seq ${row.seq}`;
  return {
    session_id: row.session_id,
    seq: checked<number>(row.seq, shapes.count, place, 'seq'),
    at: checked<number>(row.at, shapes.time, place, 'at'),
    epoch: checked<number>(row.epoch, shapes.count, place, 'epoch'),
    type: checked<EventType>(row.type, shapes.eventType, place, 'type'),
    ...(row.step_id === null ? {} : { step_id: row.step_id }),
    ...(row.step_json === null ? {} : { step: stepStateOf(row.step_json, `${place}, step_json`) }),
    ...(row.session_json === null ? {} : { session: parseStored<NonNullable<PlanEvent['session']>>(row.session_json, shapes.sessionPatch, `${place}, session_json`) }),
    ...(row.data_json === null ? {} : { data: parseStored<NonNullable<PlanEvent['data']>>(row.data_json, shapes.eventData, `${place}, data_json`) }),
  };
}

export function stepStateOf(json: string, place: string): StepState {
  return parseStored<StepState>(json, shapes.stepState, place);
}

/** The state of a row of step_updates that keeps it; undefined for a long one, which its event has. */
export function stateOfStepRow(row: StepRow, sessionId: string): StepState | undefined {
  const place = `step_updates, session ${sessionId}, step ${row.step_id}`;
  for (const name of ['generation', 'epoch', 'seq'] as const) checked(row[name], shapes.count, place, name);
  return row.state_json === null ? undefined : stepStateOf(row.state_json, `${place}, state_json`);
}

export function stepsOf(row: CheckpointRow, sessionId: string): StoredStep[] {
  return parseStored<StoredStep[]>(row.steps_json, shapes.checkpointSteps, `checkpoints, session ${sessionId}, seq ${row.seq}, steps_json`);
}

export function checkpointOf(row: CheckpointRow, sessionId: string, steps: StepUpdate[]): Checkpoint {
  const place = `checkpoints, session ${sessionId}, seq ${row.seq}`;
  return {
    seq: checked<number>(row.seq, shapes.count, place, 'seq'),
    reason: row.reason as CommitReason,
    at: checked<number>(row.at, shapes.time, place, 'at'),
    epoch: checked<number>(row.epoch, shapes.count, place, 'epoch'),
    state: parseStored<SessionState>(row.state_json, shapes.sessionState, `${place}, state_json`),
    steps,
  };
}
