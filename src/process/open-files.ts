// How many files this process may have open, and who uses them: steps that would need more wait for others to end,
// instead of failing.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

// For the store, idle pipes, the looks at /proc, and what else the host has open.
const RESERVED = 128;
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 1000;
const LONGEST_LOOK_MS = 10_000;

/** The files that attempts of this process may have open, all sessions together. */
export class OpenFiles {
  /** How many may be open at once; Infinity where nothing limits them. */
  readonly limit: number;
  #taken = 0;
  readonly #listeners = new Set<() => void>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** How many attempts that need `each` files at most can run at once in all; at least 1. */
  most(each: number): number {
    return Math.max(1, Math.floor((this.limit - RESERVED) / each));
  }

  /** How many more may begin now. */
  room(each: number): number {
    return Math.max(0, Math.floor((this.limit - RESERVED - this.#taken) / each));
  }

  take(files: number): void {
    this.#taken += files;
  }

  give(files: number): void {
    this.#taken -= files;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` whenever some were given back; returns what stops that. */
  onGiven(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

let own: OpenFiles | undefined;

/** Those of this process; its limit is read once, at the first call. */
export function openFiles(): OpenFiles {
  return (own ??= new OpenFiles(readLimit()));
}

function readLimit(): number {
  try {
    const [, limit = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return asLimit(limit);
  } catch {
    return limitOfShell();
  }
}

// A child has the limit of its parent.
function limitOfShell(): number {
  try {
    return asLimit(execFileSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim());
  } catch {
    return Infinity;
  }
}

function asLimit(text: string): number {
  const limit = Number.parseInt(text, 10);
  return Number.isNaN(limit) ? Infinity : limit;
}

/** Whether something failed because this process, or the whole system, has too many files open. */
export function isOutOfFiles(error: unknown): boolean {
  for (let link = error, depth = 0; typeof link === 'object' && link !== null && depth < 5; depth += 1) {
    const { code, cause } = link as { code?: unknown; cause?: unknown };
    if (code === 'EMFILE' || code === 'ENFILE') return true;
    link = cause;
  }
  return false;
}

/** Looks at the system, again while it fails for want of files, for 10 s at most. */
export function patiently<T>(look: () => T): Promise<T> {
  return whenFilesAreFree(AbortSignal.timeout(LONGEST_LOOK_MS), look);
}

/** Does `work` again while it fails for want of files, until `signal` aborts; then that failure is thrown. */
export async function whenFilesAreFree<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isOutOfFiles(error) || signal.aborted) throw error;
    }
    await delay(pause, undefined, { signal }).catch(() => undefined);
  }
}
