// Where the logs of a store file are. A log belongs to one store: two files in one folder never share theirs.
import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The usual name of a store's file; its logs need no name of their own. */
const USUAL_NAME = 'plan.db';

/**
 * `logs` beside `plan.db`; `NAME.logs` beside any other file, such as `a.db.logs`. A link is followed first, so that
 * every name of one file leads to the same logs.
 */
export function logFolderOf(storeFile: string): string {
  const file = realpathSync(storeFile);
  const name = basename(file);
  return join(dirname(file), name === USUAL_NAME ? 'logs' : `${name}.logs`);
}
