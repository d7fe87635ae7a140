// Ends processes and confirms that they are gone: TERM, a grace, KILL, a last look.
import { setTimeout as delay } from 'node:timers/promises';
import type { KnownProcess } from './escapees.js';
import { patiently } from './open-files.js';
import { hasEnded, listProcesses, readProcess, type ProcessRow } from './process-table.js';

/** Which processes to end. */
export interface TreeRoot {
  /** Leader of the process group and session; undefined when only the tag is known. */
  pid?: number;
  /** When the leader started: a group led by a later process with its number is another one. */
  start?: string | undefined;
  /** Says of a PLAN_ATTEMPT_ID whether it belongs here; finds those that left the group. */
  hasTag?: (tag: string) => boolean;
  /** Processes that are known to belong here in another way. */
  known?: readonly KnownProcess[];
}

export interface EndOptions {
  /** Between TERM and KILL, ms. */
  graceMs: number;
  /** Cuts the grace short. */
  hurry?: AbortSignal | undefined;
  /** How long to look for processes that KILL did not end, ms. */
  confirmMs?: number;
}

const CONFIRM_MS = 5000;

/** The members of a process group that still run; none when a later process took the number of its leader. */
export function groupMembers({ pid: pgid, start }: KnownProcess): ProcessRow[] {
  try {
    process.kill(-pgid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return [];
  }
  const rows = listProcesses({ tags: false });
  if (isNumberTaken(rows, pgid, start)) return [];
  // Members that ended and that nobody collected (process 1 of a container may not) answer signals too.
  return rows.filter((row) => row.pgid === pgid && !hasEnded(row));
}

/** Ends what is left of one process group, and nothing outside it. Returns the ids that are still there. */
export function endGroup(leader: KnownProcess, options: EndOptions): Promise<number[]> {
  return endProcesses(() => groupMembers(leader), leader.pid, options);
}

/**
 * Ends a whole tree: the group and session of `root.pid`, everything with its tag, all their descendants and groups.
 * Never this process or one that it descends from. Returns the ids that are still there after `confirmMs`.
 */
export function endProcessTree(root: TreeRoot, options: EndOptions): Promise<number[]> {
  return endProcesses(() => membersOf(root, listProcesses({ tags: root.hasTag !== undefined })), root.pid, options);
}

/** The members of a tree among some processes; those that have ended are none. */
export function membersOf(root: TreeRoot, rows: readonly ProcessRow[], self: number = process.pid): ProcessRow[] {
  const protectedIds = lineage(rows, self);
  const members = new Map<number, ProcessRow>();
  const groups = new Set<number>(root.pid === undefined || isNumberTaken(rows, root.pid, root.start) ? [] : [root.pid]);
  const known = new Map(root.known?.map(({ pid, start }) => [pid, start]));
  const belongs = (row: ProcessRow) =>
    groups.has(row.pgid) || groups.has(row.sid) || members.has(row.ppid) || known.get(row.pid) === row.start || (row.tag !== undefined && root.hasTag?.(row.tag) === true);
  // A member may bring in others (its children, the group it leads), wherever they stand in the list.
  for (let grown = true; grown; ) {
    grown = false;
    for (const row of rows) {
      if (members.has(row.pid) || protectedIds.has(row.pid) || !belongs(row)) continue;
      members.set(row.pid, row);
      if (row.pgid === row.pid || row.sid === row.pid) groups.add(row.pid);
      grown = true;
    }
  }
  return [...members.values()].filter((row) => !hasEnded(row));
}

// Whether a process with the number of a leader is not that leader.
function isNumberTaken(rows: readonly ProcessRow[], pid: number, start: string | undefined): boolean {
  return start !== undefined && start !== '' && rows.some((row) => row.pid === pid && row.start !== start);
}

// This process, its ancestors, and the first process of the system.
function lineage(rows: readonly ProcessRow[], self: number): Set<number> {
  const parents = new Map(rows.map((row) => [row.pid, row.ppid]));
  const ids = new Set([0, 1]);
  for (let pid: number | undefined = self; pid !== undefined && !ids.has(pid); pid = parents.get(pid)) ids.add(pid);
  return ids;
}

async function endProcesses(find: () => ProcessRow[], pgid: number | undefined, options: EndOptions): Promise<number[]> {
  const look = () => patiently(find);
  let members = await look();
  const graceEnd = performance.now() + options.graceMs;
  const hurried = () => options.hurry?.aborted === true;
  if (members.length > 0 && options.graceMs > 0 && !hurried()) {
    signalAll(members, pgid, 'SIGTERM');
    // A stopped process cannot answer TERM.
    signalAll(members, pgid, 'SIGCONT');
    for (let step = 2; members.length > 0 && performance.now() < graceEnd && !hurried(); step = Math.min(step * 2, 50)) {
      await delay(Math.min(step, Math.max(1, graceEnd - performance.now())));
      members = members.filter((row) => stillRuns(row, true));
      if (members.length === 0) members = await look(); // what they started meanwhile
    }
    members = await look();
  }
  const confirmEnd = performance.now() + (options.confirmMs ?? CONFIRM_MS);
  for (let step = 2; members.length > 0; step = Math.min(step * 2, 100)) {
    signalAll(members, pgid, 'SIGKILL');
    await delay(step);
    members = await look();
    if (performance.now() >= confirmEnd) break;
  }
  return members.map((row) => row.pid);
}

function signalAll(members: readonly ProcessRow[], pgid: number | undefined, signal: NodeJS.Signals): void {
  // The group in one call first: a member cannot slip away by forking between two calls.
  // One of them must still be there: the number of a group that ended may be another's by now.
  if (pgid !== undefined && members.some((row) => row.pgid === pgid && stillRuns(row, false))) send(-pgid, signal);
  for (const row of members) if (row.pgid !== pgid && stillRuns(row, false)) send(row.pid, signal);
}

// `unknown`: the answer when the system does not let us look.
function stillRuns(row: ProcessRow, unknown: boolean): boolean {
  try {
    const now = readProcess(row.pid);
    return now?.start === row.start && !hasEnded(now);
  } catch {
    return unknown;
  }
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Gone already, or not ours to end; the last look says which.
  }
}
