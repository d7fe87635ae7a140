// The audit: events alone rebuild a session; what the store keeps beside them must say the same.
import type { PlanEvent } from '../core/event.js';
import { canonicalJson, sha256, type JsonValue } from '../core/json.js';
import { foldUpdates, type StepUpdate } from '../core/merge.js';
import type { CancelRequest, SessionState } from '../core/session-state.js';
import type { StoredValue } from '../core/step-state.js';
import { UsageError } from '../core/error.js';
import { applySessionPatch } from './session-patch.js';
import type { Checkpoint, Store, StoredSession } from './store.js';

/** One thing that the store and its events tell differently. Both sides are text for people. */
export interface Difference {
  /** What differs: `step build`, `session state: status`, `event 7`, `checkpoint 12: step build`. */
  what: string;
  /** What the store says beside the events. */
  stored: string;
  /** What the events say. */
  rebuilt: string;
}

export interface AuditReport {
  session_id: string;
  ok: boolean;
  events: number;
  steps: number;
  checkpoints: number;
  differences: Difference[];
}

const PAGE = 1000;
// A damaged store can differ everywhere; the first ones tell enough.
const MOST_DIFFERENCES = 100;
const NOTHING = 'nothing';

/**
 * Rebuilds a session from its events and compares: seq without gaps, epochs, session state, cancel, every step, every
 * kept checkpoint, and the content of every large value. At most 100 differences are listed.
 * UsageError `unknown_session`; StoreError when the store cannot be read.
 */
export async function auditSession(store: Store, sessionId: string): Promise<AuditReport> {
  const session = await store.getSession(sessionId);
  if (!session) throw new UsageError('unknown_session', `there is no session ${sessionId} in store ${store.location}`);
  const steps = await store.loadSteps(sessionId);
  const checkpoints = (await store.listCheckpoints(sessionId)).reverse();
  const audit = new Rebuild();

  // A living session goes on while it is audited: events after what was read above are not part of it.
  for (let after = 0; after < session.last_seq; ) {
    const page = await store.readEvents(sessionId, { after, limit: PAGE });
    if (page.length === 0) break;
    for (const event of page) {
      if (event.seq > session.last_seq) break;
      audit.apply(event);
      while (checkpoints[0] && checkpoints[0].seq <= event.seq) audit.compareCheckpoint(checkpoints.shift() as Checkpoint);
    }
    after = page.at(-1)?.seq ?? session.last_seq;
  }
  const later = checkpoints.filter((checkpoint) => checkpoint.seq <= session.last_seq);
  for (const checkpoint of later) audit.compareCheckpoint(checkpoint);
  audit.compareSession(session);
  audit.compareSteps('', steps, session.last_seq);
  await audit.compareBlobs(store, session);

  const { differences } = audit;
  return { session_id: sessionId, ok: differences.length === 0, events: audit.events, steps: audit.steps.size, checkpoints: audit.checkpoints, differences };
}

class Rebuild {
  readonly differences: Difference[] = [];
  readonly steps = new Map<string, StepUpdate>();
  events = 0;
  checkpoints = 0;
  #state: SessionState | undefined;
  #cancel: CancelRequest | undefined;
  #epoch = 0;
  #seq = 0;

  apply(event: PlanEvent): void {
    this.events += 1;
    if (event.seq !== this.#seq + 1) this.#differ(`event ${this.#seq + 1}`, `the next event is number ${event.seq}`, `event ${this.#seq + 1} is missing`);
    if (event.epoch < this.#epoch) this.#differ(`event ${event.seq}: epoch`, String(event.epoch), `an earlier event has epoch ${this.#epoch}`);
    this.#seq = event.seq;
    this.#epoch = Math.max(this.#epoch, event.epoch);
    if (event.session) this.#state = applySessionPatch(this.#state ?? ({} as SessionState), event.session);
    if (event.step && event.step_id !== undefined) {
      foldUpdates(this.steps, [{ step_id: event.step_id, seq: event.seq, epoch: event.epoch, state: event.step }]);
    }
    if (event.type === 'cancel_requested') this.#cancel = event.data as unknown as CancelRequest;
    if (event.type === 'session_retried') this.#cancel = undefined;
  }

  compareSession(session: StoredSession): void {
    if (session.last_seq !== this.#seq) this.#differ('number of the last event', String(session.last_seq), String(this.#seq));
    if (session.epoch !== this.#epoch) this.#differ('epoch', String(session.epoch), String(this.#epoch));
    this.#compareState('session state', session.state);
    this.#compare('cancel', session.cancel, this.#cancel);
  }

  compareCheckpoint(checkpoint: Checkpoint): void {
    this.checkpoints += 1;
    const name = `checkpoint ${checkpoint.seq}`;
    if (checkpoint.seq !== this.#seq) this.#differ(name, `taken at event ${checkpoint.seq}`, `the events at hand end at ${this.#seq}`);
    this.#compareState(`${name}: session state`, checkpoint.state);
    this.compareSteps(`${name}: `, new Map(checkpoint.steps.map((step) => [step.step_id, step])), checkpoint.seq);
  }

  compareSteps(prefix: string, stored: ReadonlyMap<string, StepUpdate>, lastSeq: number): void {
    for (const [id, rebuilt] of this.steps) {
      const found = stored.get(id);
      // Read after the session's row, a step may be newer than the events compared here.
      if (found === undefined || found.seq <= lastSeq) this.#compare(`${prefix}step ${id}`, found, rebuilt);
    }
    for (const [id, found] of stored) {
      if (!this.steps.has(id) && found.seq <= lastSeq) this.#compare(`${prefix}step ${id}`, found, undefined);
    }
  }

  async compareBlobs(store: Store, session: StoredSession): Promise<void> {
    for (const [id, { state }] of this.steps) {
      if (state.status === 'completed') await this.#compareBlob(store, `output of step ${id}`, state.output);
    }
    if (session.state.outputs) await this.#compareBlob(store, 'outputs of the session', session.state.outputs);
  }

  async #compareBlob(store: Store, what: string, value: StoredValue): Promise<void> {
    if (value.in !== 'blob') return;
    const content = await store.getBlob(value.digest).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    if (content === undefined) this.#differ(what, NOTHING, `a value with digest ${value.digest}`);
    else if (content instanceof Error) this.#differ(what, content.message, `a value with digest ${value.digest}`);
    else if (sha256(content) !== value.digest) this.#differ(what, `a value with digest ${sha256(content)}`, `a value with digest ${value.digest}`);
  }

  #compareState(what: string, stored: SessionState): void {
    const rebuilt: Partial<SessionState> = this.#state ?? {};
    for (const member of new Set([...Object.keys(stored), ...Object.keys(rebuilt)]) as Set<keyof SessionState>) {
      this.#compare(`${what}: ${member}`, stored[member], rebuilt[member]);
    }
  }

  #compare(what: string, stored: unknown, rebuilt: unknown): void {
    const [left, right] = [textOf(stored), textOf(rebuilt)];
    if (left !== right) this.#differ(what, left, right);
  }

  #differ(what: string, stored: string, rebuilt: string): void {
    if (this.differences.length < MOST_DIFFERENCES) this.differences.push({ what, stored, rebuilt });
  }
}

function textOf(value: unknown): string {
  return value === undefined ? NOTHING : canonicalJson(value as JsonValue);
}
