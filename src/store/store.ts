// The Store port: everything the executor asks of durability. Every write is async and fenced, so that a database
// on another machine fits behind it as well as SQLite does. `test/contract/store.ts` is what every store must do.
//
// S1. A commit is all or nothing: its events, step states, session changes, blobs and snapshot land together.
// S2. A commit whose epoch is not the session's current epoch, or whose lease was released, changes nothing.
// S3. The store numbers events: seq grows by exactly one per event within a session, whoever writes.
// S4. What `loadSteps` returns is the fold of snapshot and updates by `core/merge.ts`.
// S5. A promise of a commit resolves only when the commit would survive a power failure.
import type { Change, CommitReason, PlanEvent } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import type { StepUpdate } from '../core/merge.js';
import type { CancelRequest, SessionStart, SessionState, SessionStatus } from '../core/session-state.js';

/** Who drives a session: enough to tell a living owner from a dead one, and from a process that took its number. */
export interface LeaseHolder {
  /** Random per drive; two drives in one process differ. */
  token: string;
  host: string;
  boot_id: string;
  /** Identity of the pid namespace; a pid says nothing outside its own. */
  pid_namespace: string;
  pid: number;
  /** The process's start time as the system counts it; a reused pid has another. */
  process_start: string;
}

export interface Lease {
  session_id: string;
  holder: LeaseHolder;
  epoch: number;
  expires_at: number;
}

export interface NewSession {
  start: SessionStart;
  /** Canonical JSON of the plan; stored once per plan_hash. */
  plan_json: string;
  /** The YAML text, for messages and for people. */
  plan_source: string;
  state: SessionState;
  holder: LeaseHolder;
  lease_expires_at: number;
  at: number;
  /** Data of the `session_created` event. */
  data: JsonObject;
}

export interface StoredSession {
  start: SessionStart;
  state: SessionState;
  plan_json: string;
  plan_source: string;
  last_seq: number;
  epoch: number;
  updated_at: number;
  lease?: Lease;
  cancel?: CancelRequest;
}

export interface Commit {
  session_id: string;
  epoch: number;
  reason: CommitReason;
  at: number;
  changes: Change[];
  /** Content to keep under its sha256 (`StoredValue` in blobs). */
  blobs?: Array<{ digest: string; content: string }>;
  /**
   * True when a stored cancel wins over this commit: one that begins attempts, or that ends the session otherwise.
   * Refused with CancelRequestedError once a cancel is stored. Only once the session is ending by that cancel
   * (`ending` is `cancelled`) may something begin again: its `finally` steps.
   */
  unless_cancelled?: boolean;
  /** True when an operator starts an ended session again (a `session_retried` change): the stored cancel no longer holds. */
  clear_cancel?: boolean;
  /** True to write a checkpoint: a snapshot of the whole session after this commit. */
  snapshot?: boolean;
}

export interface SessionFilter {
  status?: readonly SessionStatus[];
  plan_name?: string;
  /** Newest first; default 50. */
  limit?: number;
}

export interface SessionSummary {
  start: SessionStart;
  state: SessionState;
  updated_at: number;
  lease?: Lease;
  cancel?: CancelRequest;
}

/** A snapshot of a whole session at a boundary, as stored. */
export interface Checkpoint {
  seq: number;
  reason: CommitReason;
  at: number;
  epoch: number;
  state: SessionState;
  steps: StepUpdate[];
}

export interface Store {
  /** Made once with the store and kept in it: the same through every path and after a move. Copies have it too. */
  readonly id: string;
  /** Tells copies with one id apart while they exist: for a file, its device and inode. */
  readonly instance: string;
  /** Where it lives: a file path, or `:memory:`. For messages. */
  readonly location: string;
  /** Folder for log files; undefined for a store that keeps none on disk. */
  readonly logDir: string | undefined;

  /** Stores plan, session, `session_created` (seq 1) and the first lease (epoch 1). UsageError `session_exists`. */
  createSession(session: NewSession): Promise<Lease>;
  getSession(sessionId: string): Promise<StoredSession | undefined>;
  /** The merged state of every step that something happened to. */
  loadSteps(sessionId: string): Promise<Map<string, StepUpdate>>;
  /** Newest first. */
  listSessions(filter?: SessionFilter): Promise<SessionSummary[]>;
  /** Checkpoints kept of a session, newest first. */
  listCheckpoints(sessionId: string): Promise<Checkpoint[]>;

  /**
   * Takes the session: succeeds when it has no lease, when its lease expired before `now`, or when its lease has
   * epoch `replaces` (the caller found its holder dead). The epoch grows by one and `lease_acquired` is written.
   * Returns the lease in force otherwise, as `held`.
   */
  acquireLease(request: {
    session_id: string;
    holder: LeaseHolder;
    now: number;
    expires_at: number;
    replaces?: number;
  }): Promise<{ lease: Lease } | { held: Lease }>;
  /** Moves the expiry. StaleEpochError when the lease is not the session's any more. */
  renewLease(lease: Lease, expiresAt: number): Promise<void>;
  /** Gives the session up; nothing happens when it is not ours any more. */
  releaseLease(lease: Lease): Promise<void>;

  /** Writes one unit; resolves to the seq of its last event. StaleEpochError, CancelRequestedError, StoreError. */
  commit(commit: Commit): Promise<number>;
  /**
   * Stores a cancel. A second keeps the first, and is added to it as its `ends_finally` when `endsFinally` is true.
   * Returns what is in force. UsageError `session_ended`: an end that is stored first wins.
   */
  requestCancel(sessionId: string, request: CancelRequest, endsFinally?: boolean): Promise<CancelRequest>;
  /** What the driver must look at often, cheaply. Undefined when there is no such session. */
  poll(sessionId: string): Promise<{ epoch: number; cancel?: CancelRequest } | undefined>;

  /** Events in order, those with seq greater than `after`; at most `limit` (default 1000). */
  readEvents(sessionId: string, options?: { after?: number; limit?: number }): Promise<PlanEvent[]>;
  getBlob(digest: string): Promise<string | undefined>;

  /** Waits for queued commits, gives back the leases that this process took through it, then closes. Later calls reject with StoreError `closed`. */
  close(): Promise<void>;
}
