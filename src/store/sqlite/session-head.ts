// Where sessions stand during one transaction: read once, changed in memory, written once at its end.
import { isTerminalSession, type CancelRequest, type SessionState } from '../../core/session-state.js';
import type { Change } from '../../core/event.js';
import { applySessionPatch } from '../session-patch.js';
import type { Lease } from '../store.js';
import { cancelOf, checkNumbers, leaseOf, stateOf } from './rows.js';
import type { HeadRow, Statements } from './statements.js';

export class SessionHead {
  readonly session_id: string;
  last_seq: number;
  epoch: number;
  updated_at: number;
  updates_since_snapshot: number;
  snapshot_steps: number;
  lease: Lease | undefined;
  cancel: CancelRequest | undefined;
  dirty = false;
  #stateJson: string;
  #state: SessionState | undefined;

  constructor(row: HeadRow) {
    checkNumbers(row);
    this.session_id = row.session_id;
    this.last_seq = row.last_seq;
    this.epoch = row.epoch;
    this.updated_at = row.updated_at;
    this.updates_since_snapshot = row.updates_since_snapshot;
    this.snapshot_steps = row.snapshot_steps;
    this.lease = leaseOf(row);
    this.cancel = cancelOf(row);
    this.#stateJson = row.state_json;
  }

  get state(): SessionState {
    // Most commits touch no member of the state: then it is neither parsed nor written anew.
    return (this.#state ??= stateOf({ session_id: this.session_id, state_json: this.#stateJson }));
  }

  get state_json(): string {
    return this.#stateJson;
  }

  get ended(): boolean {
    return isTerminalSession(this.state.status);
  }

  /** Changes members of the state; null removes one. */
  patch(change: NonNullable<Change['session']>): void {
    this.#state = applySessionPatch(this.state, change);
    this.#stateJson = JSON.stringify(this.#state);
  }

  save(sql: Statements): void {
    sql.updateSessionState.run(
      this.state.status,
      this.last_seq,
      this.epoch,
      this.updated_at,
      this.updates_since_snapshot,
      this.snapshot_steps,
      this.cancel ? JSON.stringify(this.cancel) : null,
      this.#stateJson,
      this.session_id,
    );
    this.dirty = false;
  }
}
