// The log file of one attempt: everything that was written up to a cap, then its beginning and its end.
//
// L1. What is written stays in the order it came; nothing is decoded.
// L2. Memory stays flat: the end is kept in two part files beside the log, which replace each other by turns.
// L3. A log that cannot be written (disk full) never disturbs the command; the log then counts as truncated.
import { Buffer } from 'node:buffer';
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { LogSummary } from '../core/log-summary.js';
import { isOutOfFiles } from './open-files.js';
import { orphanedHead, unfinishedTail, Utf8Check } from './utf8.js';

/** Bytes of one attempt's output that its log keeps: half from the beginning, half from the end. */
export const LOG_KEEP = 16 * 1024 * 1024;
const COPY_CHUNK = 256 * 1024;

export interface LogWriter {
  /** Appends bytes (masked already). */
  write(bytes: Buffer): void;
  /** Completes the file and says what it holds. Calling it again changes nothing. */
  end(): LogSummary;
}

/**
 * Opens a log, readable by its owner only; its folder is made when missing. Without a path it only counts.
 * @param empty whether a log without a byte is a file too; most steps that are no commands write nothing
 */
export function openLog(path: string | undefined, keep: number = LOG_KEEP, empty = true): LogWriter {
  return path === undefined ? new CountingLog() : new FileLog(path, keep, empty);
}

class CountingLog implements LogWriter {
  #bytes = 0;
  readonly #check = new Utf8Check();
  write(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#check.push(bytes);
  }
  end(): LogSummary {
    return { bytes: this.#bytes, kept: 0, truncated: false, binary: !this.#check.valid };
  }
}

class FileLog implements LogWriter {
  readonly #path: string;
  readonly #half: number;
  readonly #check = new Utf8Check();
  #file: number | undefined;
  #bytes = 0;
  #head = 0;
  /** The current part of the end, and how much it holds. */
  #part: number | undefined;
  #partBytes = 0;
  #hasOlderPart = false;
  #broken = false;
  #summary: LogSummary | undefined;

  constructor(path: string, keep: number, empty: boolean) {
    this.#path = path;
    this.#half = Math.max(1, Math.floor(keep / 2));
    try {
      if (empty) this.#file = openPrivate(path);
    } catch (error) {
      // Passes soon, and nothing was done yet: whoever opens it can wait.
      if (isOutOfFiles(error)) throw error;
      this.#broken = true;
    }
  }

  write(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#check.push(bytes);
    if (this.#broken) return;
    this.#attempt(() => {
      const room = this.#half - this.#head;
      const first = bytes.subarray(0, Math.max(0, room));
      this.#file ??= openPrivate(this.#path);
      if (first.length > 0) this.#head += writeAll(this.#file, first);
      if (bytes.length > first.length) this.#writeEnd(bytes.subarray(first.length));
    });
  }

  #writeEnd(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#part !== undefined && this.#partBytes >= this.#half) {
        closeSync(this.#part);
        this.#part = undefined;
        renameSync(`${this.#path}.end`, `${this.#path}.end-older`);
        this.#hasOlderPart = true;
      }
      if (this.#part === undefined) {
        this.#part = openPrivate(`${this.#path}.end`);
        this.#partBytes = 0;
      }
      const piece = rest.subarray(0, this.#half - this.#partBytes);
      this.#partBytes += writeAll(this.#part, piece);
      rest = rest.subarray(piece.length);
    }
  }

  end(): LogSummary {
    this.#summary ??= this.#finish();
    return this.#summary;
  }

  #finish(): LogSummary {
    const kept = this.#broken ? this.#head : (this.#attempt(() => this.#joinEnd()) ?? this.#head);
    if (this.#file !== undefined) closeSync(this.#file);
    if (this.#part !== undefined) {
      closeSync(this.#part);
      this.#attempt(() => rmSync(`${this.#path}.end`, { force: true }));
      this.#attempt(() => rmSync(`${this.#path}.end-older`, { force: true }));
    }
    this.#file = this.#part = undefined;
    return { bytes: this.#bytes, kept, truncated: kept < this.#bytes, binary: !this.#check.valid };
  }

  // Appends the last bytes to the beginning, after a line that says what is missing.
  #joinEnd(): number {
    if (this.#part === undefined) return this.#head;
    const older = Math.min(this.#hasOlderPart ? this.#half : 0, this.#half - this.#partBytes);
    const missing = this.#bytes - this.#head - older - this.#partBytes;
    const log = this.#file as number;
    let kept = this.#head - (missing > 0 ? cutUnfinishedCharacter(log) : 0);
    const end = new EndCopy(log, missing > 0 ? () => this.#marker() : undefined);
    if (older > 0) kept += end.copy(`${this.#path}.end-older`, this.#half - older);
    kept += end.copy(`${this.#path}.end`, 0);
    return kept;
  }

  #marker(): Buffer {
    return Buffer.from(`\n[plan: the output was ${this.#bytes} bytes; the log keeps its first and its last ${this.#half} bytes, the part between is left out here]\n`);
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch {
      this.#broken = true;
      return undefined;
    }
  }
}

// Copies the end behind the beginning; where something is missing between, no half character stands at the border.
class EndCopy {
  readonly #log: number;
  #marker: (() => Buffer) | undefined;
  constructor(log: number, marker: (() => Buffer) | undefined) {
    this.#log = log;
    this.#marker = marker;
  }
  copy(path: string, from: number): number {
    const source = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(COPY_CHUNK);
      let copied = 0;
      for (let at = from; ; ) {
        const size = readSync(source, buffer, 0, buffer.length, at);
        if (size === 0) return copied;
        at += size;
        let bytes: Buffer = buffer.subarray(0, size);
        if (this.#marker !== undefined) {
          writeAll(this.#log, this.#marker());
          this.#marker = undefined;
          bytes = bytes.subarray(orphanedHead(bytes));
        }
        copied += writeAll(this.#log, bytes);
      }
    } finally {
      closeSync(source);
    }
  }
}

function writeAll(file: number, bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  return bytes.length;
}

function cutUnfinishedCharacter(file: number): number {
  const { size } = fstatSync(file);
  const last = Buffer.alloc(Math.min(3, size));
  readSync(file, last, 0, last.length, size - last.length);
  const tail = unfinishedTail(last);
  ftruncateSync(file, size - tail);
  return tail;
}

const OPEN = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_TRUNC;

function openPrivate(path: string): number {
  let file: number;
  try {
    file = openSync(path, OPEN, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    file = openSync(path, OPEN, 0o600);
  }
  // An existing file keeps its mode otherwise.
  fchmodSync(file, 0o600);
  return file;
}

