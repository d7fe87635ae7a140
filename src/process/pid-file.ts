// `<log>.pid`: which process writes a log, so that it can be found after its driver died.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { processIdentity } from './identity.js';
import { readProcess } from './process-table.js';

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
}

export function pidFileOf(logPath: string): string {
  return `${logPath}.pid`;
}

/** Writes the file at once, before anything else can happen. A file that cannot be written is no reason to stop. */
export function writePidFile(path: string, pid: number, tag: string, scratch: string | undefined): void {
  const { boot_id, pid_namespace } = processIdentity();
  const record: PidRecord = { pid, process_start: readProcess(pid)?.start ?? '', boot_id, pid_namespace, tag, ...(scratch === undefined ? {} : { scratch }) };
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
