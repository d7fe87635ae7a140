// The session as its driver knows it: the states in memory, kept equal to what was handed to the store.
//
// R1. Nothing changes here that is not handed to the store in the same turn, in the same order.
// R2. Every change is a row of core/transitions.ts.
// R3. With `per_layer`, endings of steps wait in a buffer and are handed over when their layer has ended, or earlier
//     at a pause, a cancel, an interrupt or the end. Starts and retry waits never wait.
import type { Clock } from '../core/clock.js';
import { ActionError, CancelRequestedError } from '../core/error.js';
import type { Change, CommitReason } from '../core/event.js';
import { sha256, type JsonValue } from '../core/json.js';
import type { SessionState } from '../core/session-state.js';
import { PENDING, STEP_STATUSES, type StepState, type StepStatus, type StoredValue } from '../core/step-state.js';
import { assertSessionTransition, assertStepTransition } from '../core/transitions.js';
import type { Store } from '../store/store.js';
import type { StepChange } from './step-change.js';

/** The largest value of one step, bytes of its JSON. */
const VALUE_LIMIT = 16 * 1024 * 1024;
/** Values whose JSON is longer than this many characters go to a blob; the row keeps digest, size and a preview. */
const INLINE_LIMIT = 8192;
const PREVIEW = 200;

interface Blob {
  digest: string;
  content: string;
}

export class SessionRecord {
  readonly sessionId: string;
  readonly epoch: number;
  session: SessionState;
  readonly counts: { [status in StepStatus]: number };
  readonly #steps: Map<string, StepState>;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #onCommit: () => void;
  #buffer: StepChange[] = [];
  #blobs: Blob[] = [];
  /** Blobs that have not landed yet: a step may read them before the store has them. */
  readonly #unsaved = new Map<string, string>();

  /**
   * @param stepCount number of steps of the plan, for the counts
   * @param onCommit called whenever a commit landed
   */
  constructor(options: {
    sessionId: string;
    epoch: number;
    session: SessionState;
    steps: Map<string, StepState>;
    stepCount: number;
    store: Store;
    clock: Clock;
    onCommit: () => void;
  }) {
    this.sessionId = options.sessionId;
    this.epoch = options.epoch;
    this.session = options.session;
    this.#steps = options.steps;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#onCommit = options.onCommit;
    this.counts = Object.fromEntries(STEP_STATUSES.map((status) => [status, 0])) as { [status in StepStatus]: number };
    this.counts.pending = options.stepCount - this.#steps.size;
    for (const state of this.#steps.values()) this.counts[state.status] += 1;
  }

  state(id: string): StepState {
    return this.#steps.get(id) ?? PENDING;
  }

  /** States of the steps that something happened to. */
  touched(): IterableIterator<[string, StepState]> {
    return this.#steps.entries();
  }

  /** Content of a blob, landed or not. */
  async blob(digest: string): Promise<string | undefined> {
    return this.#unsaved.get(digest) ?? this.#store.getBlob(digest);
  }

  /** Turns a value into what a state keeps; a large one travels as a blob with the next commit. ActionError `output_too_large`. */
  keep(value: JsonValue): StoredValue {
    const json = JSON.stringify(value);
    if (json.length <= INLINE_LIMIT) return { in: 'row', value };
    const bytes = Buffer.byteLength(json);
    if (bytes > VALUE_LIMIT) {
      throw new ActionError({
        class: 'permanent',
        code: 'output_too_large',
        message: `the outputs and the result take ${bytes} bytes as JSON, more than the ${VALUE_LIMIT} that a step may keep; write them to a file and give its path as the output`,
      });
    }
    const digest = sha256(json);
    this.#blobs.push({ digest, content: json });
    this.#unsaved.set(digest, json);
    return { in: 'blob', digest, bytes, preview: json.slice(0, PREVIEW) };
  }

  /** Applies changes and hands them to the store, after whatever is buffered was to come before. */
  async write(reason: CommitReason, changes: Change[], options: { snapshot?: boolean; clearCancel?: boolean } = {}): Promise<void> {
    for (const change of changes) this.#apply(change);
    await this.#commit(reason, changes, options);
  }

  /** Keeps the ending of a step in memory only, until `flush`. */
  hold(change: StepChange): void {
    this.#apply(change);
    this.#buffer.push(change);
  }

  /** Hands over what is held; `only` picks which (default: all). */
  async flush(reason: CommitReason, only: (change: StepChange) => boolean = () => true): Promise<void> {
    const due = this.#buffer.filter(only);
    if (due.length === 0) return;
    this.#buffer = this.#buffer.filter((change) => !only(change));
    await this.#commit(reason, due, {});
  }

  /**
   * Begins an attempt: charges it before anything is sent. Resolves to false, with the state as before, when a cancel
   * was stored meanwhile.
   */
  async begin(change: StepChange): Promise<boolean> {
    const before = this.state(change.step_id);
    const session = this.session;
    const charged: Change = {
      ...change,
      session: { attempts_used: session.attempts_used + 1, ...(session.status === 'running' ? {} : { status: 'running' as const }) },
    };
    this.#apply(charged);
    try {
      await this.#commit('step_start', [charged], { unlessCancelled: true });
      return true;
    } catch (error) {
      if (!(error instanceof CancelRequestedError)) throw error;
      this.#set(change.step_id, before);
      this.session = { ...this.session, attempts_used: this.session.attempts_used - 1 };
      return false;
    }
  }

  /**
   * Ends or pauses the session otherwise than by a cancel. Resolves to false, with the session as before, when a cancel
   * was stored first.
   */
  async end(reason: CommitReason, change: Change, options: { snapshot: boolean }): Promise<boolean> {
    const before = this.session;
    this.#apply(change);
    try {
      await this.#commit(reason, [change], { ...options, unlessCancelled: true });
      return true;
    } catch (error) {
      if (!(error instanceof CancelRequestedError)) throw error;
      this.session = before;
      return false;
    }
  }

  async #commit(
    reason: CommitReason,
    changes: Change[],
    options: { snapshot?: boolean; unlessCancelled?: boolean; clearCancel?: boolean },
  ): Promise<void> {
    const blobs = this.#blobs;
    this.#blobs = [];
    await this.#store.commit({
      session_id: this.sessionId,
      epoch: this.epoch,
      reason,
      at: this.#clock.now(),
      changes,
      ...(blobs.length === 0 ? {} : { blobs }),
      ...(options.unlessCancelled === true ? { unless_cancelled: true } : {}),
      ...(options.snapshot === true ? { snapshot: true } : {}),
      ...(options.clearCancel === true ? { clear_cancel: true } : {}),
    });
    for (const { digest } of blobs) this.#unsaved.delete(digest);
    this.#onCommit();
  }

  #apply(change: Change): void {
    if (change.step_id !== undefined && change.step !== undefined) {
      assertStepTransition(change.step_id, this.state(change.step_id).status, change.type, change.step.status);
      this.#set(change.step_id, change.step);
    }
    if (change.session !== undefined) {
      const { status } = change.session;
      if (status !== undefined && status !== null && status !== this.session.status) {
        assertSessionTransition(this.session.status, change.type, status);
      }
      this.session = { ...this.session, ...(change.session as Partial<SessionState>) };
      for (const [key, value] of Object.entries(change.session)) if (value === null) delete this.session[key as keyof SessionState];
    }
  }

  #set(id: string, state: StepState): void {
    this.counts[this.state(id).status] -= 1;
    this.counts[state.status] += 1;
    this.#steps.set(id, state);
  }
}
