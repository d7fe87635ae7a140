// A private folder for one attempt: holds $PLAN_OUTPUT, removed when the attempt ends. In memory where the system offers
// that and has room: what a command says there may be secret and need not reach a disk, and removing a folder from a
// disk can cost as much as starting a process.
import { closeSync, lstatSync, mkdtempSync, openSync, readdirSync, rmdirSync, rmSync, statfsSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ActionError } from '../core/error.js';
import { asWord as word, processIdentity, type ProcessIdentity } from './identity.js';
import { hasEnded, readProcess } from './process-table.js';

// The name says who made it, so that what a killed process leaves is known as such.
const NAME = /^planwright-(\d+)\.([A-Za-z0-9-]*)\.([A-Za-z0-9-]*)\.[A-Za-z0-9-]+$/;
// What a memory file system must have left before anything is put there: $PLAN_OUTPUT may take that much.
const LEAST_ROOM = 16 * 1024 * 1024;
// Says something about this process, nothing about the place.
const NOT_THE_PLACE = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);
const NEVER_BETTER = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS', 'ELOOP', 'ENAMETOOLONG']);

export interface Scratch {
  folder: string;
  /** The empty file that $PLAN_OUTPUT names. */
  output: string;
  remove(): void;
}

export type ScratchOwner = Pick<ProcessIdentity, 'pid' | 'process_start' | 'pid_namespace'>;

/** Folders where private things may be made, the best first; `name` is how messages call them. */
function roots(): Array<{ path: string; name: string; inMemory: boolean }> {
  const disk = { path: tmpdir(), name: process.env['TMPDIR'] === undefined ? tmpdir() : `${tmpdir()} (TMPDIR)`, inMemory: false };
  return process.platform === 'linux' ? [{ path: '/dev/shm', name: '/dev/shm', inMemory: true }, disk] : [disk];
}

/**
 * Makes something of about `bytes` in the first root where that works; `make` gets a path prefix to complete, and
 * leaves nothing where it fails. ActionError `no_private_folder`: it works nowhere.
 */
export function inPrivatePlace<T>(make: (prefix: string) => T, bytes = 0): T {
  const faults: string[] = [];
  let hopeless = true;
  for (const { path, name, inMemory } of roots()) {
    try {
      if (inMemory && roomIn(path) < bytes + LEAST_ROOM) {
        faults.push(`${name} is full or too small`);
        continue;
      }
      return make(join(path, prefixOf(processIdentity())));
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      if (NOT_THE_PLACE.has(code)) throw error;
      hopeless = hopeless && NEVER_BETTER.has(code);
      faults.push(`${name} ${code === 'ENOENT' ? 'does not exist' : code === 'ENOSPC' ? 'is full' : `cannot be written (${code})`}`);
    }
  }
  const message = `there is no place for the private folder of the step: ${faults.join(', ')}; make room there, or set TMPDIR to a folder that exists and can be written`;
  throw new ActionError({ class: hopeless ? 'permanent' : 'transient', code: 'no_private_folder', message });
}

/** A new folder that only its owner can enter. */
export function makePrivateFolder(): string {
  return inPrivatePlace((prefix) => mkdtempSync(prefix));
}

/** Makes the folder (0700) and the file (0600). */
export function makeScratch(): Scratch {
  return inPrivatePlace((prefix) => {
    const folder = mkdtempSync(prefix);
    const output = join(folder, 'output');
    try {
      closeSync(openSync(output, 'wx', 0o600));
    } catch (error) {
      removeFolder(folder, output);
      throw error;
    }
    return { folder, output, remove: () => removeFolder(folder, output) };
  });
}

/** Removes a folder that `makeScratch` made, here or in another process; a path of anything else is left alone. */
export function removeScratch(folder: string): void {
  if (NAME.test(basename(folder))) removeAll(folder);
}

/** Removes what one process that is dead left in the private places. */
export function removeScratchOf(owner: ScratchOwner): number {
  const prefix = prefixOf(owner);
  return removeWhere((name) => name.startsWith(prefix));
}

/** Removes what processes that are dead left in the private places; returns how many things that were. */
export function removeDeadScratch(): number {
  const namespace = word(processIdentity().pid_namespace);
  return removeWhere((name) => {
    const [, pid, start, theirs] = NAME.exec(name) ?? [];
    if (pid === undefined || theirs !== namespace) return false;
    const found = readProcess(Number(pid));
    return found === undefined || hasEnded(found) || word(found.start) !== start;
  });
}

function prefixOf({ pid, process_start: start, pid_namespace: namespace }: ScratchOwner): string {
  return `planwright-${pid}.${word(start)}.${word(namespace)}.`;
}

function roomIn(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

function removeWhere(isGone: (name: string) => boolean): number {
  let removed = 0;
  for (const root of new Set(roots().map(({ path }) => path))) {
    for (const name of namesIn(root)) if (NAME.test(name) && isGone(name) && removeAll(join(root, name))) removed += 1;
  }
  return removed;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

// Whatever it is, it never changes an outcome; it may be another user's, who gave it this name.
function removeAll(path: string): boolean {
  try {
    if (lstatSync(path).uid !== process.getuid?.()) return false;
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

function removeFolder(folder: string, output: string): void {
  try {
    unlinkSync(output);
    rmdirSync(folder);
  } catch {
    // The command removed the file, or left others beside it. What cannot be cleared away never changes an outcome.
    removeAll(folder);
  }
}
