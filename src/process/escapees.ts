// Processes that left the session of their command. One that also cleared its environment (`setsid env -i …`) carries
// no mark any more: it is known only by having been seen as a descendant while its parents lived, or by its hold of the
// command's output pipe. Linux only; elsewhere nothing is remembered.
//
// E1. A process is remembered by its number and start time, so a later one with the same number is never taken for it.
// E2. Looking costs little: soon after the start often, then once a second, never more than a fiftieth of the time.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hasEnded, listProcesses, readProcess, type ProcessRow } from './process-table.js';

export interface KnownProcess {
  pid: number;
  /** As the system counts it. */
  start: string;
}

const FIRST_LOOK_MS = 4;
const LAST_LOOK_MS = 1000;
const LEAST_REST = 50;
// Of one look.
const MOST_PROCESSES = 2000;

let supported: boolean | undefined;
const canWalk = () => (supported ??= existsSync(`/proc/self/task/${process.pid}/children`));

/** Whether the process that was seen is still there. */
export function isThere({ pid, start }: KnownProcess): boolean {
  try {
    const row = readProcess(pid);
    return row?.start === start && !hasEnded(row);
  } catch {
    return true; // nobody can tell now; it stays noted
  }
}

/** Remembers which descendants of a command left its session. */
export class EscapeWatch {
  readonly #leader: KnownProcess;
  readonly #onNew: () => void;
  readonly #seen = new Map<number, KnownProcess>();
  #timer: NodeJS.Timeout | undefined;
  #pause = FIRST_LOOK_MS;

  /** `onNew` is called when another one was seen. */
  constructor(leader: KnownProcess, onNew: () => void) {
    this.#leader = leader;
    this.#onNew = onNew;
    if (canWalk() && leader.start !== '') this.#arm(0);
  }

  /** Those that are still there. */
  living(): KnownProcess[] {
    return [...this.#seen.values()].filter(isThere);
  }

  /** Looks now. */
  look(): void {
    if (!canWalk() || this.#leader.start === '') return;
    const before = this.#seen.size;
    const known = this.living();
    this.#seen.clear();
    for (const one of known) this.#seen.set(one.pid, one);
    let isNew = before !== known.length;
    const walked = new Set<number>();
    const queue = [this.#leader, ...known].filter(isThere).map(({ pid }) => pid);
    for (let pid = queue.pop(); pid !== undefined && walked.size < MOST_PROCESSES; pid = queue.pop()) {
      if (walked.has(pid)) continue;
      walked.add(pid);
      for (const child of childrenOf(pid)) {
        queue.push(child);
        const row = tryToRead(child);
        if (row === undefined || hasEnded(row) || row.sid === this.#leader.pid || this.#seen.has(child)) continue;
        this.#seen.set(child, { pid: child, start: row.start });
        isNew = true;
      }
    }
    if (isNew) this.#onNew();
  }

  /** Remembers others too, seen in another way. */
  add(processes: readonly KnownProcess[]): void {
    for (const one of processes) this.#seen.set(one.pid, one);
    if (processes.length > 0) this.#onNew();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #arm(cost: number): void {
    this.#timer = setTimeout(() => {
      const began = performance.now();
      this.look();
      this.#arm(performance.now() - began);
    }, Math.max(this.#pause, cost * LEAST_REST)).unref();
    this.#pause = Math.min(this.#pause * 2, LAST_LOOK_MS);
  }
}

/**
 * Processes that have a pipe open and are younger than the command that it was made for. What is older got the pipe
 * handed over on purpose; it is no child of the command.
 */
export function holdersOf(pipes: ReadonlySet<string>, leader: KnownProcess): KnownProcess[] {
  if (pipes.size === 0 || leader.start === '') return [];
  return listProcesses({ tags: false }).flatMap((row) => {
    if (row.pid === process.pid || hasEnded(row) || Number(row.start) < Number(leader.start)) return [];
    return openFilesOf(row.pid).some((file) => pipes.has(file)) ? [{ pid: row.pid, start: row.start }] : [];
  });
}

function openFilesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return []; // closed meanwhile
      }
    });
  } catch {
    return []; // gone, or another user's
  }
}

function tryToRead(pid: number): ProcessRow | undefined {
  try {
    return readProcess(pid);
  } catch {
    return undefined; // too many open files: the next look may see it
  }
}

// Each thread has its own list.
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
        .split(' ')
        .filter((text) => text !== '')
        .map(Number),
    );
  } catch {
    return [];
  }
}
