// The Store port over one SQLite file. Writes go through one queue (group commit), reads are single short statements:
// no cursor stays open, so nothing here ever keeps the write-ahead log from being copied back.
import type { Database } from 'better-sqlite3';
import { StoreError } from '../../core/error.js';
import type { PlanEvent } from '../../core/event.js';
import { sha256 } from '../../core/json.js';
import type { StepUpdate } from '../../core/merge.js';
import type { CancelRequest } from '../../core/session-state.js';
import type { Checkpoint, Commit, Lease, NewSession, SessionFilter, SessionSummary, Store, StoredSession } from '../store.js';
import { retryWhileBusy, type BusyPolicy } from './busy.js';
import { CommitQueue } from './commit-queue.js';
import { encodeCommit } from './encode-commit.js';
import { asStoreError } from './fault.js';
import { logFolderOf } from './log-folder.js';
import { FileWatch } from './file-watch.js';
import { LogKeeper } from './log-keeper.js';
import { MEMORY } from './open-database.js';
import { cancelOf, DamagedRow, eventOf, summaryOf } from './rows.js';
import { SessionWriter, type LeaseRequest } from './session-writer.js';
import { loadCheckpoints, loadMergedSteps } from './snapshots.js';
import { prepareStatements, type Statements } from './statements.js';
import { WriteTransaction } from './write-transaction.js';

const SMALL = 500; // bytes of a unit that writes a row or two

export class SqliteStore implements Store {
  readonly id: string;
  readonly instance: string;
  readonly location: string;
  readonly logDir: string | undefined;
  readonly #db: Database;
  readonly #sql: Statements;
  readonly #writer: SessionWriter;
  readonly #queue: CommitQueue;
  readonly #busy: BusyPolicy;
  readonly #log: LogKeeper | undefined;
  readonly #files: FileWatch | undefined;
  /** Leases taken through this store: at its end it gives them back, as nobody could write under them any more. */
  readonly #leases = new Map<string, Lease>();
  #closing: Promise<void> | undefined;

  constructor(db: Database, location: string, busy: BusyPolicy, which: { id: string; instance: string }) {
    this.id = which.id;
    this.instance = which.instance;
    this.location = location;
    this.logDir = location === MEMORY ? undefined : logFolderOf(location);
    this.#db = db;
    this.#busy = busy;
    this.#sql = prepareStatements(db);
    this.#writer = new SessionWriter(this.#sql);
    this.#log = location === MEMORY ? undefined : new LogKeeper(db);
    this.#files = location === MEMORY ? undefined : new FileWatch(db, location);
    this.#queue = new CommitQueue(new WriteTransaction(db, this.#sql, this.#writer, location, this.#log, this.#files), busy);
  }

  async createSession(session: NewSession): Promise<Lease> {
    const copy = structuredClone(session);
    const lease = await this.#write(() => this.#writer.createSession(copy), SMALL + copy.plan_json.length + copy.plan_source.length);
    this.#leases.set(lease.session_id, lease);
    return lease;
  }

  async getSession(sessionId: string): Promise<StoredSession | undefined> {
    return this.#read(() => {
      const row = this.#sql.summary.get(sessionId);
      const plan = row && this.#sql.planOf.get(sessionId);
      if (!row) return undefined;
      if (!plan) throw new DamagedRow(`sessions, session ${sessionId}`, 'its plan, or the text of it, is missing');
      return { ...summaryOf(row), ...plan, last_seq: row.last_seq, epoch: row.epoch };
    });
  }

  async loadSteps(sessionId: string): Promise<Map<string, StepUpdate>> {
    return this.#read(() => loadMergedSteps(this.#sql, sessionId));
  }

  async listSessions(filter: SessionFilter = {}): Promise<SessionSummary[]> {
    const { status, plan_name = null, limit = 50 } = filter;
    const wanted = { status: status ? JSON.stringify(status) : null, plan_name, limit };
    return this.#read(() => this.#sql.listSessions.all(wanted).map(summaryOf));
  }

  async listCheckpoints(sessionId: string): Promise<Checkpoint[]> {
    return this.#read(() => loadCheckpoints(this.#sql, sessionId));
  }

  async acquireLease(request: LeaseRequest): Promise<{ lease: Lease } | { held: Lease }> {
    const copy = structuredClone(request);
    const answer = await this.#write(() => this.#writer.acquireLease(copy), SMALL);
    if ('lease' in answer) this.#leases.set(copy.session_id, answer.lease);
    return answer;
  }

  async renewLease(lease: Lease, expiresAt: number): Promise<void> {
    const copy = structuredClone(lease);
    return this.#write(() => this.#writer.renewLease(copy, expiresAt), SMALL);
  }

  async releaseLease(lease: Lease): Promise<void> {
    const copy = structuredClone(lease);
    await this.#write(() => this.#writer.releaseLease(copy), SMALL);
    if (this.#leases.get(copy.session_id)?.epoch === copy.epoch) this.#leases.delete(copy.session_id);
  }

  async commit(commit: Commit): Promise<number> {
    const encoded = encodeCommit(commit);
    return this.#write(() => this.#writer.commit(encoded), encoded.bytes);
  }

  async requestCancel(sessionId: string, request: CancelRequest, endsFinally = false): Promise<CancelRequest> {
    const copy = { ...request };
    return this.#write(() => this.#writer.requestCancel(sessionId, copy, endsFinally), SMALL);
  }

  async poll(sessionId: string): Promise<{ epoch: number; cancel?: CancelRequest } | undefined> {
    return this.#read(() => {
      const row = this.#sql.poll.get(sessionId);
      const cancel = row && cancelOf(row);
      return row && { epoch: row.epoch, ...(cancel ? { cancel } : {}) };
    });
  }

  async readEvents(sessionId: string, options: { after?: number; limit?: number } = {}): Promise<PlanEvent[]> {
    return this.#read(() => this.#sql.events.all(sessionId, options.after ?? 0, options.limit ?? 1000).map(eventOf));
  }

  async getBlob(digest: string): Promise<string | undefined> {
    const content = await this.#read(() => this.#sql.blob.get(digest)?.content);
    if (content !== undefined && sha256(content) !== digest) {
      throw new StoreError('corrupt', `store ${this.location}: the content of blob ${digest} does not match its digest; restore a backup`);
    }
    return content;
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#queue.drain();
    // Those of this process. One that the store does not take stays until it expires or the process is gone.
    const own = [...this.#leases.values()].filter(({ holder }) => holder.pid === process.pid);
    await Promise.all(own.map((lease) => this.#queue.add(() => this.#writer.releaseLease(lease), SMALL).catch(() => undefined)));
    this.#log?.close();
    this.#db.close();
    this.#files?.end();
  }

  #write<T>(apply: () => T, bytes: number): Promise<T> {
    this.#refuseClosed();
    return this.#queue.add(apply, bytes);
  }

  async #read<T>(work: () => T): Promise<T> {
    this.#refuseClosed();
    try {
      return await retryWhileBusy(() => {
        if (!this.#db.open) this.#refuseClosed();
        this.#files?.checkPlaces();
        return work();
      }, this.location, this.#busy);
    } catch (error) {
      throw asStoreError(error, this.location);
    }
  }

  #refuseClosed(): void {
    if (this.#closing) throw new StoreError('closed', `store ${this.location} is closed`);
  }
}
