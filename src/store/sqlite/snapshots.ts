// Snapshots of a session, and the load that folds the newest one with what came after it.
//
// N1. A snapshot holds the merge of all step updates up to its seq, so later ones are all that a load must add.
// N2. A state longer than LONG_STATE is kept once, in its event; everything else names that event by its seq.
import { foldUpdates, type StepUpdate } from '../../core/merge.js';
import type { StepState } from '../../core/step-state.js';
import type { Checkpoint } from '../store.js';
import { checkpointOf, DamagedRow, stateOfStepRow, stepsOf, stepStateOf, type CheckpointRow, type StepRow } from './rows.js';
import type { Statements } from './statements.js';

/** From this many characters of JSON on a state is not copied but read from its event. */
const LONG_STATE = 1024;
const KEPT_CHECKPOINTS = 3;
const LEAST_UPDATES = 5000;

/** The JSON of a state as rows beside its event keep it. */
export function shortState(stateJson: string): string | null {
  return stateJson.length > LONG_STATE ? null : stateJson;
}

/** Whether so many updates came since the last snapshot that the next one costs no more than they did. */
export function isSnapshotDue(updatesSince: number, stepsInSnapshot: number): boolean {
  return updatesSince > Math.max(LEAST_UPDATES, stepsInSnapshot);
}

/** Writes a snapshot of a session and drops the oldest; returns how many steps it holds. */
export function writeSnapshot(
  sql: Statements,
  session: { session_id: string; last_seq: number; epoch: number; state_json: string },
  at: number,
  reason: string,
): number {
  const merged = new Map<string, LightUpdate>();
  foldUpdates(merged, sql.steps.all(session.session_id, 0).map(lightUpdate));
  const steps = [...merged.values()].map(
    ({ step_id, seq, epoch, state_json }) =>
      `{"step_id":${JSON.stringify(step_id)},"seq":${seq},"epoch":${epoch},"state":${state_json ?? 'null'}}`,
  );
  sql.insertCheckpoint.run(session.session_id, session.last_seq, session.epoch, at, reason, session.state_json, `[${steps.join(',')}]`);
  sql.deleteOldCheckpoints.run({ session_id: session.session_id, kept: KEPT_CHECKPOINTS });
  return merged.size;
}

/** The merged state of every step: the newest snapshot, and the updates after it. */
export function loadMergedSteps(sql: Statements, sessionId: string): Map<string, StepUpdate> {
  const snapshot = sql.newestCheckpoint.get(sessionId);
  const merged = new Map<string, StepUpdate>();
  if (snapshot) foldUpdates(merged, stepsOfCheckpoint(sql, sessionId, snapshot));
  const later = sql.steps.all(sessionId, snapshot?.seq ?? 0);
  return foldUpdates(merged, later.map((row) => {
    const { step_id, seq, epoch } = row;
    return { step_id, seq, epoch, state: stateOfStepRow(row, sessionId) ?? stateOfEvent(sql, sessionId, seq) };
  }));
}

/** Checkpoints kept of a session, newest first. */
export function loadCheckpoints(sql: Statements, sessionId: string): Checkpoint[] {
  return sql.checkpoints.all(sessionId).map((row) => checkpointOf(row, sessionId, stepsOfCheckpoint(sql, sessionId, row)));
}

// The merge rule needs generation and status alone: nothing is parsed to write a snapshot.
type LightUpdate = StepUpdate & { state_json: string | null };

function lightUpdate(row: StepRow): LightUpdate {
  const state = { status: row.status, generation: row.generation } as StepState;
  return { step_id: row.step_id, seq: row.seq, epoch: row.epoch, state, state_json: row.state_json };
}

function stepsOfCheckpoint(sql: Statements, sessionId: string, row: CheckpointRow): StepUpdate[] {
  const stored = stepsOf(row, sessionId);
  for (const step of stored) step.state ??= stateOfEvent(sql, sessionId, step.seq);
  return stored as StepUpdate[];
}

function stateOfEvent(sql: Statements, sessionId: string, seq: number): StepState {
  const json = sql.stepOfEvent.get(sessionId, seq)?.step_json;
  const place = `events, session ${sessionId}, seq ${seq}`;
  if (json == null) throw new DamagedRow(place, 'the event is missing, or holds no state of a step');
  return stepStateOf(json, `${place}, step_json`);
}
