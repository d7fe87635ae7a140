// Every SQL statement of the store, prepared once.
import type { Database } from 'better-sqlite3';
import type { CheckpointRow, EventRow, SessionRow, StepRow } from './rows.js';

// The cold columns of a session are read only where they are shown: a start holds params of any size.
const HEAD = `
  SELECT s.session_id, s.state_json, s.cancel_json, s.last_seq, s.epoch, s.updated_at, s.updates_since_snapshot,
         s.snapshot_steps, l.epoch AS lease_epoch, l.expires_at, l.holder_json
  FROM session_states s LEFT JOIN leases l ON l.session_id = s.session_id`;
export const SUMMARY = `
  SELECT c.session_id, c.start_json, s.state_json, s.cancel_json, s.last_seq, s.epoch, s.updated_at,
         s.updates_since_snapshot, s.snapshot_steps, l.epoch AS lease_epoch, l.expires_at, l.holder_json
  FROM sessions c JOIN session_states s ON s.session_id = c.session_id
  LEFT JOIN leases l ON l.session_id = c.session_id`;

/** A statement that changes rows. */
export interface Write {
  run(...parameters: unknown[]): { changes: number };
}

/** A statement that reads rows. */
export interface Query<Row> {
  get(...parameters: unknown[]): Row | undefined;
  all(...parameters: unknown[]): Row[];
}

export type HeadRow = Omit<SessionRow, 'start_json'>;
export type Statements = ReturnType<typeof prepareStatements>;

export function prepareStatements(db: Database) {
  const run = (sql: string): Write => db.prepare<unknown[]>(sql);
  const query = <Row>(sql: string): Query<Row> => db.prepare<unknown[], Row>(sql);
  return {
    begin: run('BEGIN IMMEDIATE'),
    commit: run('COMMIT'),
    rollback: run('ROLLBACK'),

    insertPlan: run('INSERT INTO plans (plan_hash, plan_json) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    insertBlob: run('INSERT INTO blobs (digest, content) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    insertSession: run(`
      INSERT INTO sessions (session_id, plan_hash, source_digest, plan_name, created_at, start_json)
      VALUES (?, ?, ?, ?, ?, ?)`),
    insertSessionState: run(`
      INSERT INTO session_states (session_id, status, last_seq, epoch, updated_at, updates_since_snapshot,
                                  snapshot_steps, cancel_json, state_json)
      VALUES (?, ?, 1, 1, ?, 0, 0, NULL, ?)`),
    updateSessionState: run(`
      UPDATE session_states SET status = ?, last_seq = ?, epoch = ?, updated_at = ?, updates_since_snapshot = ?,
             snapshot_steps = ?, cancel_json = ?, state_json = ?
      WHERE session_id = ?`),
    putLease: run(`
      INSERT INTO leases (session_id, epoch, expires_at, holder_json) VALUES (?, ?, ?, ?)
      ON CONFLICT (session_id) DO UPDATE
      SET epoch = excluded.epoch, expires_at = excluded.expires_at, holder_json = excluded.holder_json`),
    deleteLease: run('DELETE FROM leases WHERE session_id = ?'),
    insertEvent: run(`
      INSERT INTO events (session_id, seq, epoch, at, type, reason, step_id, data_json, session_json, step_json)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    // The rule of core/merge.ts between two states of one kind: the higher generation, then the higher seq.
    upsertStep: run(`
      INSERT INTO step_updates (session_id, step_id, update_type, generation, attempt, epoch, seq, status, state_json)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (session_id, step_id, update_type) DO UPDATE
      SET generation = excluded.generation, attempt = excluded.attempt, epoch = excluded.epoch, seq = excluded.seq,
          status = excluded.status, state_json = excluded.state_json
      WHERE excluded.generation > generation OR (excluded.generation = generation AND excluded.seq > seq)`),
    insertCheckpoint: run(`
      INSERT INTO checkpoints (session_id, seq, epoch, at, reason, state_json, steps_json) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (session_id, seq) DO UPDATE
      SET epoch = excluded.epoch, at = excluded.at, reason = excluded.reason, state_json = excluded.state_json,
          steps_json = excluded.steps_json`),
    deleteOldCheckpoints: run(`
      DELETE FROM checkpoints WHERE session_id = @session_id AND seq NOT IN
        (SELECT seq FROM checkpoints WHERE session_id = @session_id ORDER BY seq DESC LIMIT @kept)`),

    head: query<HeadRow>(`${HEAD} WHERE s.session_id = ?`),
    sessionExists: query<{ found: number }>('SELECT 1 AS found FROM sessions WHERE session_id = ?'),
    poll: query<{ session_id: string; epoch: number; cancel_json: string | null }>('SELECT session_id, epoch, cancel_json FROM session_states WHERE session_id = ?'),
    summary: query<SessionRow>(`${SUMMARY} WHERE c.session_id = ?`),
    listSessions: query<SessionRow>(`
      ${SUMMARY}
      WHERE (@status IS NULL OR s.status IN (SELECT value FROM json_each(@status)))
        AND (@plan_name IS NULL OR c.plan_name = @plan_name)
      ORDER BY c.created_at DESC, c.session_id DESC LIMIT @limit`),
    planOf: query<{ plan_json: string; plan_source: string }>(`
      SELECT p.plan_json, b.content AS plan_source
      FROM sessions c JOIN plans p ON p.plan_hash = c.plan_hash JOIN blobs b ON b.digest = c.source_digest
      WHERE c.session_id = ?`),
    events: query<EventRow>(`
      SELECT session_id, seq, epoch, at, type, step_id, data_json, session_json, step_json
      FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?`),
    stepOfEvent: query<{ step_json: string | null }>('SELECT step_json FROM events WHERE session_id = ? AND seq = ?'),
    steps: query<StepRow>(`
      SELECT step_id, generation, epoch, seq, status, state_json FROM step_updates WHERE session_id = ? AND seq > ?`),
    newestCheckpoint: query<CheckpointRow>(`
      SELECT seq, epoch, at, reason, state_json, steps_json FROM checkpoints WHERE session_id = ? ORDER BY seq DESC LIMIT 1`),
    checkpoints: query<CheckpointRow>(`
      SELECT seq, epoch, at, reason, state_json, steps_json FROM checkpoints WHERE session_id = ? ORDER BY seq DESC`),
    blob: query<{ content: string }>('SELECT content FROM blobs WHERE digest = ?'),
  };
}
