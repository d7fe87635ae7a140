// The files of an open store, watched: SQLite goes on writing to a deleted file, or behind the end of one that was cut,
// without a word, and what it writes there is lost.
import { closeSync, openSync, readSync, statSync, type BigIntStats } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { StoreError } from '../../core/error.js';
import { openFiles, type FileId } from './file-kind.js';

const LOG_HEAD = 32; // bytes before the first frame of a write-ahead log
const FRAME_HEAD = 24; // bytes before the page of a frame
const LOG_MAGIC = [0x377f0682, 0x377f0683];
// The log is measured at most so often, ms: between a look and the write after it, it can be cut anyway.
const LOG_LOOK_MS = 50;
const LEAST_FILE = 512n; // the smallest page, so the smallest database

/** Pages in the write-ahead log, as all processes that share it count them. */
interface LogCount {
  log: number;
}

export class FileWatch {
  readonly #path: string;
  readonly #frames: { get(): LogCount | undefined };
  readonly #frameBytes: number;
  readonly #seen = new Map<string, BigIntStats>();
  #log: number | undefined;
  #logSeenAt = -Infinity;
  /** A log that was cut stays so, whatever is written behind it. */
  #lost: StoreError | undefined;

  /** Begins to watch; the store must be open and read once. */
  constructor(db: Database, path: string) {
    this.#path = path;
    // NOOP copies nothing: it only counts.
    this.#frames = db.prepare<[], LogCount>('PRAGMA wal_checkpoint(NOOP)');
    this.#frameBytes = FRAME_HEAD + (db.pragma('page_size', { simple: true }) as number);
    this.checkPlaces();
    openFiles.add(this.#file);
  }

  /** StoreError `gone` when a file of the store is not the one that was opened. Costs three calls to the system. */
  checkPlaces(): void {
    if (this.#lost !== undefined) throw this.#lost;
    const [main] = ['', '-wal', '-shm'].map((suffix) => this.#same(suffix));
    if (main !== undefined && main.size < LEAST_FILE) throw this.#gone('the file was emptied');
  }

  /** The same, and `gone` when the write-ahead log was cut (looked at every 50 ms). To be asked before each write. */
  check(): void {
    this.checkPlaces();
    const now = performance.now();
    if (now - this.#logSeenAt < LOG_LOOK_MS) return;
    this.#logSeenAt = now;
    // Others append and cut it rightly meanwhile: only what is still so when asked again is a fault.
    if (this.#isCut() && this.#isCut()) throw (this.#lost = this.#gone(`its write-ahead log ${this.#path}-wal was cut`));
  }

  /** After the store was closed. */
  end(): void {
    if (this.#log !== undefined) closeSync(this.#log);
    this.#log = undefined;
    openFiles.remove(this.#file);
  }

  get #file(): FileId {
    return this.#seen.get('') as BigIntStats;
  }

  #same(suffix: string): BigIntStats | undefined {
    const now = statSync(this.#path + suffix, { bigint: true, throwIfNoEntry: false });
    const first = this.#seen.get(suffix);
    if (first === undefined) {
      if (now !== undefined) this.#seen.set(suffix, now);
    } else if (now?.ino !== first.ino || now.dev !== first.dev) {
      throw this.#gone(`the file ${suffix === '' ? '' : `${this.#path}${suffix} `}was deleted or replaced`);
    }
    return now;
  }

  #isCut(): boolean {
    const before = this.#frames.get()?.log ?? 0;
    if (before <= 0) return false;
    const size = statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    const whole = size >= LOG_HEAD + before * this.#frameBytes && this.#hasHead();
    return !whole && this.#frames.get()?.log === before;
  }

  // A log that was cut and then written again has a hole where its head was. (SQLite holds no lock on this file, so it
  // may be opened and closed.)
  #hasHead(): boolean {
    this.#log ??= openSync(`${this.#path}-wal`, 'r');
    const head = Buffer.alloc(4);
    return readSync(this.#log, head, 0, 4, 0) === 4 && LOG_MAGIC.includes(head.readUInt32BE());
  }

  #gone(what: string): StoreError {
    return new StoreError('gone', `store ${this.#path}: ${what} while it was open; nothing more is written to it, and what it held since its last backup may be lost: see what is there (plan doctor), put the right file back, then resume`);
  }
}
