// Every row of a store, read as the store reads it: what it would stumble over, all at once.
import Database from 'better-sqlite3';
import { sha256 } from '../../core/json.js';
import { checkpointOf, DamagedRow, eventOf, stateOfStepRow, stepsOf, summaryOf, type CheckpointRow, type EventRow, type SessionRow, type StepRow } from './rows.js';
import { SUMMARY } from './statements.js';

export interface Damage {
  /** Where and what, for people: the first ones. */
  rows: string[];
  /** How many in all. */
  count: number;
}

const MOST = 20;

/**
 * Looks at all rows of the store in a file, and changes nothing.
 * @param checkPlan throws when the text of a plan is not one
 */
export function findDamage(path: string, checkPlan: (planJson: string) => void): Damage {
  const db = new Database(path, { readonly: true, fileMustExist: true });
  const damage: Damage = { rows: [], count: 0 };
  const look = <Row>(sql: string, check: (row: Row) => unknown) => {
    for (const row of db.prepare<[], Row>(sql).iterate()) {
      try {
        check(row);
      } catch (error) {
        if (!(error instanceof DamagedRow)) throw error;
        damage.count += 1;
        if (damage.rows.length < MOST) damage.rows.push(error.message);
      }
    }
  };
  try {
    look<SessionRow>(SUMMARY, summaryOf);
    look<{ session_id: string }>('SELECT session_id FROM sessions WHERE session_id NOT IN (SELECT session_id FROM session_states)', ({ session_id }) => {
      throw new DamagedRow(`sessions, session ${session_id}`, 'its state is missing (session_states)');
    });
    look<{ session_id: string }>('SELECT session_id FROM session_states WHERE session_id NOT IN (SELECT session_id FROM sessions)', ({ session_id }) => {
      throw new DamagedRow(`session_states, session ${session_id}`, 'its start is missing (sessions)');
    });
    look<EventRow>('SELECT session_id, seq, epoch, at, type, step_id, data_json, session_json, step_json FROM events', eventOf);
    look<StepRow & { session_id: string }>('SELECT session_id, step_id, generation, epoch, seq, status, state_json FROM step_updates', (row) => stateOfStepRow(row, row.session_id));
    look<CheckpointRow & { session_id: string }>('SELECT session_id, seq, epoch, at, reason, state_json, steps_json FROM checkpoints', (row) => {
      stepsOf(row, row.session_id);
      checkpointOf(row, row.session_id, []);
    });
    look<{ digest: string; content: string }>('SELECT digest, content FROM blobs', ({ digest, content }) => {
      if (sha256(content) !== digest) throw new DamagedRow(`blobs, digest ${digest}`, 'its content does not match its digest');
    });
    look<{ plan_hash: string; plan_json: string }>('SELECT plan_hash, plan_json FROM plans', ({ plan_hash, plan_json }) => {
      try {
        checkPlan(plan_json);
      } catch (cause) {
        throw new DamagedRow(`plans, plan_hash ${plan_hash}, plan_json`, (cause as Error).message, { cause });
      }
    });
    return damage;
  } finally {
    db.close();
  }
}
