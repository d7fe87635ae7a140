// `<log>.pid`: which processes an attempt started, so that they can be found after its driver died, and when it leaves.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { KnownProcess } from './escapees.js';
import { processIdentity } from './identity.js';

export interface PidRecord {
  pid: number;
  /** Start time of the process, as the system counts it. */
  process_start: string;
  boot_id: string;
  pid_namespace: string;
  /** Its PLAN_ATTEMPT_ID. */
  tag: string;
  /** Private folder of the attempt, to be removed with it. */
  scratch?: string;
  /** Descendants that left the session of the process. */
  escaped?: KnownProcess[];
}

export function pidFileOf(logPath: string): string {
  return `${logPath}.pid`;
}

/** Writes the file at once, before anything else can happen. A file that cannot be written is no reason to stop. */
export function writePidFile(path: string, given: Omit<PidRecord, 'boot_id' | 'pid_namespace'>): void {
  const { boot_id, pid_namespace } = processIdentity();
  const record: PidRecord = { ...given, boot_id, pid_namespace };
  try {
    writeFileSync(path, JSON.stringify(record), { mode: 0o600 });
  } catch {
    // The tag still finds the process.
  }
}

/** Reads the file; undefined when it is missing or no pid file. */
export function readPidFile(path: string): PidRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(path, 'utf8')) as Partial<PidRecord>;
    return typeof record.pid === 'number' && typeof record.process_start === 'string' && typeof record.tag === 'string' ? (record as PidRecord) : undefined;
  } catch {
    return undefined;
  }
}

export function removePidFile(path: string): void {
  rmSync(path, { force: true });
}
