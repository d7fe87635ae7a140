// Processes of a driver that died: found by their tag and by pid files, ended before anything runs again.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { endProcessTree, membersOf } from './end-process-tree.js';
import { isThere, type KnownProcess } from './escapees.js';
import { processIdentity } from './identity.js';
import { readPidFile, removePidFile, type PidRecord } from './pid-file.js';
import { listProcesses } from './process-table.js';
import { mayEnd, type DriveMark } from './process-tag.js';
import { removeScratch } from './scratch.js';

export interface OrphanReport {
  /** How many processes were found and ended. */
  ended: number;
  /** Ids of those that could not be ended. */
  left: number[];
}

export interface OrphanOptions {
  /** Between TERM and KILL, ms. */
  graceMs: number;
  /** Cuts the grace short. */
  hurry?: AbortSignal;
  /** Where the logs of the session are, and the pid files beside them. */
  logDir?: string | undefined;
}

/**
 * Ends every process that this drive of a session, or an older one, started (see process-tag.ts), with its groups and
 * descendants: TERM, `graceMs`, KILL. Pid files in `logDir` name more of them; one counts only
 * while the process with that number started at the noted time. They are removed, and so are the attempts' private
 * folders.
 */
export async function endOrphans(drive: DriveMark, { graceMs, hurry, logDir }: OrphanOptions): Promise<OrphanReport> {
  const hasTag = (tag: string) => mayEnd(drive, tag);
  const records = logDir === undefined ? [] : pidFilesIn(logDir).filter(({ record }) => hasTag(record.tag));
  const known = records.flatMap(({ record }) => processesOf(record)).filter(isThere);
  const found = membersOf({ hasTag, known }, listProcesses({ tags: true }));
  const left = found.length === 0 ? [] : await endProcessTree({ hasTag, known }, { graceMs, hurry });
  for (const { path, record } of records) {
    if (processesOf(record).some(({ pid }) => left.includes(pid))) continue;
    removePidFile(path);
    if (record.scratch !== undefined) removeScratch(record.scratch);
  }
  return { ended: found.filter(({ pid }) => !left.includes(pid)).length, left };
}

// None where the numbers of the record mean something else by now.
function processesOf({ pid, process_start, boot_id, pid_namespace, escaped = [] }: PidRecord): KnownProcess[] {
  const self = processIdentity();
  return boot_id === self.boot_id && pid_namespace === self.pid_namespace && process_start !== '' ? [{ pid, start: process_start }, ...escaped] : [];
}

function pidFilesIn(folder: string): Array<{ path: string; record: PidRecord }> {
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return []; // no log was ever written
  }
  return names.flatMap((name) => {
    if (!name.endsWith('.pid')) return [];
    const path = join(folder, name);
    const record = readPidFile(path);
    return record === undefined ? [] : [{ path, record }];
  });
}
