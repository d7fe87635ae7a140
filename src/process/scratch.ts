// A private folder for one attempt: holds $PLAN_OUTPUT, removed when the attempt ends. In memory where the system offers
// that: what a command says there may be secret and need not reach a disk, and removing a folder from a disk can cost
// as much as starting a process.
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const PREFIX = 'planwright-';

export interface Scratch {
  folder: string;
  /** The empty file that $PLAN_OUTPUT names. */
  output: string;
  remove(): void;
}

/** Folders where private things may be made, the best first. */
function roots(): string[] {
  return process.platform === 'linux' ? ['/dev/shm', tmpdir()] : [tmpdir()];
}

/** Makes something in the first root where that works; `make` gets a path prefix to complete. */
export function inPrivatePlace<T>(make: (prefix: string) => T): T {
  const [first, ...others] = roots();
  try {
    return make(join(first as string, PREFIX));
  } catch (error) {
    const [next] = others;
    if (next === undefined) throw error;
    return make(join(next, PREFIX));
  }
}

/** A new folder that only its owner can enter. */
export function makePrivateFolder(): string {
  return inPrivatePlace((prefix) => mkdtempSync(prefix));
}

/** Makes the folder (0700) and the file (0600). */
export function makeScratch(): Scratch {
  const folder = makePrivateFolder();
  const output = join(folder, 'output');
  closeSync(openSync(output, 'wx', 0o600));
  return { folder, output, remove: () => removeFolder(folder, output) };
}

/** Removes a folder that `makeScratch` made; a path of anything else is left alone. */
export function removeScratch(folder: string): void {
  const path = resolve(folder);
  if (roots().some((root) => dirname(path) === resolve(root) && path.startsWith(join(resolve(root), PREFIX)))) rmSync(path, { recursive: true, force: true });
}

function removeFolder(folder: string, output: string): void {
  try {
    unlinkSync(output);
    rmdirSync(folder);
  } catch {
    // The command removed the file, or left others beside it. What cannot be cleared away never changes an outcome.
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {
      return;
    }
  }
}
