// Keeps the write-ahead log small: SQLite copies it back while it is written, but only a truncating checkpoint gives
// its room back to the disk. That happens when nothing was written for a while, and at the end.
import type { Database } from 'better-sqlite3';

const IDLE_MS = 2000;

export class LogKeeper {
  readonly #db: Database;
  readonly #idleMs: number;
  #timer: NodeJS.Timeout | undefined;

  /** `idleMs`: how long nothing must have been written before the log is cut. */
  constructor(db: Database, idleMs = IDLE_MS) {
    this.#db = db;
    this.#idleMs = idleMs;
  }

  /** Something was written. */
  touch(): void {
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#truncate(), this.#idleMs).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#truncate();
  }

  #truncate(): void {
    try {
      // A reader of another process makes this give up after a few milliseconds; the next idle time tries again.
      this.#db.pragma('wal_checkpoint(TRUNCATE)');
    } catch {
      // What was committed is safe in the log; whoever writes next meets the fault and tells it.
    }
  }
}
