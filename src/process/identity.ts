// Who a process is: enough to tell a living owner from a dead one, and from a process that took its number.
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { readProcess, type ProcessRow } from './process-table.js';

export interface ProcessIdentity {
  host: string;
  /** Changes at every start of the machine. */
  boot_id: string;
  /** Identity of the pid namespace; '' where the system has none. */
  pid_namespace: string;
  pid: number;
  /** The process's start time as the system counts it. */
  process_start: string;
}

/** alive; stopped (by a signal, it may go on); dead; unknown (nothing on this machine can tell). */
export type HolderVerdict = 'alive' | 'stopped' | 'dead' | 'unknown';

let own: ProcessIdentity | undefined;

/** The identity of this process; read once, at the first call. */
export function processIdentity(): ProcessIdentity {
  own ??= {
    host: hostname(),
    boot_id: bootId(),
    pid_namespace: pidNamespace(),
    pid: process.pid,
    process_start: readProcess(process.pid)?.start ?? '',
  };
  return own;
}

/** A part of an identity as letters, digits and dashes: some start times have spaces, the names of namespaces brackets. */
export function asWord(text: string): string {
  return text.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

/** Whether the process that `holder` describes still lives, as far as `self` can see. */
export function judgeHolder(holder: ProcessIdentity, self: ProcessIdentity = processIdentity()): HolderVerdict {
  // One start of one machine is one machine, whatever it is called: a laptop gets another name in another network.
  const sameStart = holder.boot_id !== '' && holder.boot_id === self.boot_id;
  if (!sameStart && holder.host !== self.host) return 'unknown';
  if (!sameStart && holder.boot_id !== self.boot_id) return holder.boot_id === '' || self.boot_id === '' ? 'unknown' : 'dead';
  if (holder.pid_namespace !== self.pid_namespace) return 'unknown';
  let found: ProcessRow | undefined;
  try {
    found = readProcess(holder.pid);
  } catch {
    return 'unknown'; // too many open files
  }
  // Some systems hide other users' processes; a signal that is refused proves that one exists.
  if (found === undefined) return answersSignals(holder.pid) ? 'unknown' : 'dead';
  if (found.start !== holder.process_start) return 'dead';
  if (found.state === 'Z' || found.state === 'X') return 'dead';
  return found.state === 'T' ? 'stopped' : 'alive';
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return bootSession();
  }
}

// macOS. Not `kern.boottime`: that is wall time minus uptime, and moves when the clock is set. Without an id the start
// time of a process, which is a date there, tells a process from one of an earlier start.
function bootSession(): string {
  try {
    return execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}
