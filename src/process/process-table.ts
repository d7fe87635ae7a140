// The processes of this machine, as /proc shows them, or `ps` where there is no /proc.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isOutOfFiles } from './open-files.js';

export interface ProcessRow {
  pid: number;
  ppid: number;
  /** Process group and session; the session is 0 where `ps` does not tell. */
  pgid: number;
  sid: number;
  /** R running, S and D sleeping, T stopped, Z ended but not collected, … */
  state: string;
  /** When it started, as the system counts it: tells a process from a later one with the same number. */
  start: string;
  /** Processor time that it used, in ticks of the system; not known from `ps`. */
  cpu?: number;
  /** Its PLAN_ATTEMPT_ID, where asked for and readable. */
  tag?: string;
}

const TAG = 'PLAN_ATTEMPT_ID=';
let procfs: boolean | undefined;
const hasProcfs = () => (procfs ??= existsSync('/proc/self/stat'));

/** One process; undefined when there is none with this number (or it is hidden). */
export function readProcess(pid: number): ProcessRow | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return hasProcfs() ? readStat(pid) : listByPs(['-p', String(pid)])[0];
}

/** All processes that can be seen; `tags` reads their PLAN_ATTEMPT_ID too. */
export function listProcesses(options: { tags: boolean }): ProcessRow[] {
  return hasProcfs() ? listByProcfs(options.tags) : listWithPs(options.tags);
}

/** Whether a process has ended, even if its parent did not collect it yet. */
export function hasEnded(row: ProcessRow | undefined): boolean {
  return row === undefined || row.state === 'Z' || row.state === 'X';
}

function listByProcfs(tags: boolean): ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const row = readStat(pid);
    if (row === undefined) continue;
    const tag = tags ? readTag(pid) : undefined;
    if (tag !== undefined) row.tag = tag;
    rows.push(row);
  }
  return rows;
}

function readStat(pid: number): ProcessRow | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch (error) {
    // Not to be taken for the end of the process.
    if (isOutOfFiles(error)) throw error;
    return undefined;
  }
}

/** Reads a line of /proc/PID/stat. The name in parentheses may itself hold spaces, parentheses and line ends. */
export function parseStat(line: string): ProcessRow | undefined {
  const end = line.lastIndexOf(')');
  const pid = Number.parseInt(line, 10);
  if (end < 0 || Number.isNaN(pid)) return undefined;
  // The state is the third field of the line and the first after the name; the start time is the 22nd.
  const fields = line.slice(end + 2).trim().split(' ');
  const [state = '', ppid, pgid, sid] = fields;
  const start = fields[19];
  if (start === undefined) return undefined;
  return { pid, ppid: Number(ppid), pgid: Number(pgid), sid: Number(sid), state, start, cpu: Number(fields[11]) + Number(fields[12]) };
}

function readTag(pid: number): string | undefined {
  let environ: string;
  try {
    environ = readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch (error) {
    if (isOutOfFiles(error)) throw error;
    return undefined; // gone, or another user's
  }
  const at = environ.startsWith(TAG) ? 0 : environ.indexOf(`\0${TAG}`) + 1;
  if (at === 0 && !environ.startsWith(TAG)) return undefined;
  const end = environ.indexOf('\0', at);
  return environ.slice(at + TAG.length, end < 0 ? undefined : end);
}

/** The same through `ps`; exported so that it is tested on systems that have both. */
export function listWithPs(tags: boolean): ProcessRow[] {
  const rows = listByPs(['-A']);
  if (!tags) return rows;
  const found = new Map<number, string>();
  for (const line of ps(['-A', '-ww', '-E', '-o', 'pid=,command='], ['axeww', '-o', 'pid=,command='])) {
    const match = /^\s*(\d+)\s.*\sPLAN_ATTEMPT_ID=(\S+)/.exec(line);
    if (match) found.set(Number(match[1]), match[2] as string);
  }
  for (const row of rows) {
    const tag = found.get(row.pid);
    if (tag !== undefined) row.tag = tag;
  }
  return rows;
}

function listByPs(which: string[]): ProcessRow[] {
  return ps([...which, '-o', 'pid=,ppid=,pgid=,stat=,lstart=']).flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S)\S*\s+(.+?)\s*$/.exec(line);
    if (!match) return [];
    const [, pid, ppid, pgid, state, start] = match as unknown as [string, string, string, string, string, string];
    return [{ pid: Number(pid), ppid: Number(ppid), pgid: Number(pgid), sid: 0, state, start }];
  });
}

// The first argument list that this system's `ps` accepts.
function ps(...variants: string[][]): string[] {
  for (const args of variants) {
    try {
      // In UTC and English, so that a start time is spelled alike whoever asks.
      const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
      return execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 256 * 2 ** 20, env }).split('\n');
    } catch {
      // Another spelling, or no such process.
    }
  }
  return [];
}
