// Everything that is written about sessions, as units of one transaction. Each checks first and writes then, so that
// a refused unit leaves nothing behind and the rest of its transaction stands.
import { CancelRequestedError, StaleEpochError, UsageError } from '../../core/error.js';
import type { Change, CommitReason } from '../../core/event.js';
import { sha256 } from '../../core/json.js';
import type { CancelRequest } from '../../core/session-state.js';
import type { Lease, LeaseHolder, NewSession } from '../store.js';
import { encodeChange, type EncodedChange, type EncodedCommit } from './encode-commit.js';
import { SessionHead } from './session-head.js';
import { isSnapshotDue, shortState, writeSnapshot } from './snapshots.js';
import type { Statements } from './statements.js';

export interface LeaseRequest {
  session_id: string;
  holder: LeaseHolder;
  now: number;
  expires_at: number;
  replaces?: number;
}

export class SessionWriter {
  readonly #sql: Statements;
  readonly #heads = new Map<string, SessionHead>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Writes what the units changed of the sessions themselves; part of the transaction. */
  saveHeads(): void {
    for (const head of this.#heads.values()) if (head.dirty) head.save(this.#sql);
  }

  /** Forgets what was read: another process may write between two transactions. */
  forgetHeads(): void {
    this.#heads.clear();
  }

  createSession(session: NewSession): Lease {
    const { start, state, holder } = session;
    const id = start.session_id;
    if (this.#sql.sessionExists.get(id)) {
      throw new UsageError('session_exists', `session ${id} exists already; resume it, or choose another id`);
    }
    const sourceDigest = sha256(session.plan_source);
    const stateJson = JSON.stringify(state);
    const lease = { session_id: id, holder, epoch: 1, expires_at: session.lease_expires_at };
    this.#sql.insertPlan.run(start.plan_hash, session.plan_json);
    this.#sql.insertBlob.run(sourceDigest, session.plan_source);
    this.#sql.insertSession.run(id, start.plan_hash, sourceDigest, start.plan_name, start.created_at, JSON.stringify(start));
    this.#sql.insertSessionState.run(id, state.status, session.at, stateJson);
    this.#putLease(lease);
    this.#sql.insertEvent.run(
      id, 1, 1, session.at, 'session_created', 'session_start', null, JSON.stringify(session.data), stateJson, null,
    );
    return lease;
  }

  acquireLease(request: LeaseRequest): { lease: Lease } | { held: Lease } {
    const head = this.#need(request.session_id);
    const previous = head.lease;
    if (previous && previous.expires_at > request.now && previous.epoch !== request.replaces) return { held: previous };
    head.epoch += 1;
    const lease = { session_id: head.session_id, holder: request.holder, epoch: head.epoch, expires_at: request.expires_at };
    head.lease = lease;
    this.#putLease(lease);
    const data = { holder: { ...request.holder }, took_over: previous !== undefined, ...(previous ? { from: { ...previous.holder } } : {}) };
    this.#append(head, encodeChange({ type: 'lease_acquired', data }), request.now, 'session_resume');
    return { lease };
  }

  renewLease(lease: Lease, expiresAt: number): void {
    const head = this.#head(lease.session_id);
    if (head?.lease?.epoch !== lease.epoch || head.lease.holder.token !== lease.holder.token) {
      throw new StaleEpochError(lease.session_id, lease.epoch, head?.epoch ?? 0);
    }
    head.lease = { ...head.lease, expires_at: expiresAt };
    this.#putLease(head.lease);
  }

  releaseLease(lease: Lease): void {
    const head = this.#head(lease.session_id);
    if (head?.lease?.epoch !== lease.epoch || head.lease.holder.token !== lease.holder.token) return;
    head.lease = undefined;
    this.#sql.deleteLease.run(lease.session_id);
  }

  commit(commit: EncodedCommit): number {
    const head = this.#need(commit.session_id);
    if (head.epoch !== commit.epoch || head.lease === undefined) {
      throw new StaleEpochError(commit.session_id, commit.epoch, head.epoch);
    }
    const cancel = commit.clear_cancel ? undefined : head.cancel;
    if (commit.unless_cancelled && cancel && head.state.ending !== 'cancelled') throw new CancelRequestedError(commit.session_id);
    head.cancel = cancel;

    for (const { digest, content } of commit.blobs ?? []) this.#sql.insertBlob.run(digest, content);
    for (const change of commit.changes) this.#append(head, change, commit.at, commit.reason);
    if (commit.snapshot || isSnapshotDue(head.updates_since_snapshot, head.snapshot_steps)) {
      head.snapshot_steps = writeSnapshot(this.#sql, head, commit.at, commit.reason);
      head.updates_since_snapshot = 0;
      head.dirty = true;
    }
    return head.last_seq;
  }

  requestCancel(sessionId: string, request: CancelRequest, endsFinally: boolean): CancelRequest {
    const head = this.#need(sessionId);
    if (head.ended) {
      throw new UsageError('session_ended', `session ${sessionId} is ${head.state.status} already; there is nothing to cancel`);
    }
    if (head.cancel && !endsFinally) return head.cancel;
    const { requested_at, actor, reason } = request;
    const inForce = head.cancel ? { ...head.cancel, ends_finally: { requested_at, actor, reason } } : request;
    head.cancel = inForce;
    this.#append(head, encodeChange({ type: 'cancel_requested', data: { ...inForce } }), requested_at, 'cancel');
    return inForce;
  }

  #append(head: SessionHead, change: EncodedChange, at: number, reason: CommitReason): void {
    const seq = head.last_seq + 1;
    const { session_id, epoch } = head;
    const { step, step_id, step_json } = change;
    this.#sql.insertEvent.run(
      session_id, seq, epoch, at, change.type, reason, step_id, change.data_json, change.session_json, step_json,
    );
    if (step && step_json !== null) {
      this.#sql.upsertStep.run(
        session_id, step_id, step.update_type, step.generation, step.attempt, epoch, seq, step.status, shortState(step_json),
      );
      head.updates_since_snapshot += 1;
    }
    if (change.session_json !== null) head.patch(JSON.parse(change.session_json) as NonNullable<Change['session']>);
    head.last_seq = seq;
    head.updated_at = at;
    head.dirty = true;
  }

  #putLease(lease: Lease): void {
    this.#sql.putLease.run(lease.session_id, lease.epoch, lease.expires_at, JSON.stringify(lease.holder));
  }

  #head(sessionId: string): SessionHead | undefined {
    const known = this.#heads.get(sessionId);
    if (known) return known;
    const row = this.#sql.head.get(sessionId);
    if (!row) return undefined;
    const head = new SessionHead(row);
    this.#heads.set(sessionId, head);
    return head;
  }

  #need(sessionId: string): SessionHead {
    const head = this.#head(sessionId);
    if (!head) throw new UsageError('unknown_session', `there is no session ${sessionId} in this store`);
    return head;
  }
}
