// The handle of one drive: its result, its events, and the switch that stops it.
import type { PlanEvent } from '../core/event.js';
import type { Store } from '../store/store.js';
import { onAbort } from './on-abort.js';
import type { DriveOptions, SessionHandle, SessionResult } from './session-handle.js';

/** What a handle can tell the driver. */
export interface Stoppable {
  stop(): void;
  kill(): void;
}

export class Drive implements SessionHandle {
  readonly session_id: string;
  readonly result: Promise<SessionResult>;
  readonly #store: Store;
  #driver: Stoppable | undefined;
  #asked: 'stop' | 'kill' | undefined;
  /** Events after this one belong to this drive; undefined until the session is open. */
  #from: number | undefined;
  #over = false;
  #failure: { error: unknown } | undefined;
  #waiting: Array<() => void> = [];

  constructor(store: Store, sessionId: string, options: DriveOptions, body: (drive: Drive) => Promise<SessionResult>) {
    this.#store = store;
    this.session_id = sessionId;
    this.result = this.#run(options.signal, body);
    // Whoever only iterates gets the error there; a host must not die of a rejection that nobody awaits.
    this.result.catch(() => undefined);
  }

  stop(): void {
    this.#asked ??= 'stop';
    this.#driver?.stop();
  }

  kill(): void {
    this.#asked = 'kill';
    this.#driver?.kill();
  }

  /** The driver begins; events after `seenSeq` are this drive's. */
  attach(driver: Stoppable, seenSeq: number): void {
    this.#driver = driver;
    this.#from = seenSeq;
    if (this.#asked === 'stop') driver.stop();
    if (this.#asked === 'kill') driver.kill();
    this.notify();
  }

  /** Something new may be in the store. */
  notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PlanEvent> {
    let after: number | undefined;
    for (;;) {
      const over = this.#over;
      after ??= this.#from;
      const events: PlanEvent[] = after === undefined ? [] : await this.#store.readEvents(this.session_id, { after, limit: 500 });
      for (const event of events) {
        after = event.seq;
        yield event;
      }
      if (events.length > 0) continue;
      if (over) {
        if (this.#failure !== undefined) throw this.#failure.error;
        return;
      }
      if (!this.#over) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  // The host's signal is listened to for the whole drive, and no longer, whatever its ending.
  async #run(signal: AbortSignal | undefined, body: (drive: Drive) => Promise<SessionResult>): Promise<SessionResult> {
    if (signal?.aborted === true) this.#asked = 'stop';
    const forget = signal === undefined ? undefined : onAbort(signal, () => this.stop());
    try {
      return await body(this);
    } catch (error) {
      this.#failure = { error };
      throw error;
    } finally {
      forget?.();
      this.#over = true;
      this.notify();
    }
  }
}
