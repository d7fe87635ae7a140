// A private folder for one attempt: holds $PLAN_OUTPUT, removed when the attempt ends.
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const SCRATCH_PREFIX = 'planwright-';

export interface Scratch {
  folder: string;
  /** The empty file that $PLAN_OUTPUT names. */
  output: string;
  remove(): void;
}

/** Makes the folder (0700) and the file (0600). */
export function makeScratch(): Scratch {
  const folder = mkdtempSync(join(tmpdir(), SCRATCH_PREFIX));
  const output = join(folder, 'output');
  closeSync(openSync(output, 'wx', 0o600));
  return { folder, output, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
