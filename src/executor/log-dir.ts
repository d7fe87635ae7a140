// The folder of a session's logs: made before anything is stored or run, so that what is in its way is told first.
import { constants, type Stats } from 'node:fs';
import { access, lstat, mkdir, readlink, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StoreError } from '../core/error.js';
import type { Store } from '../store/store.js';

export function logDirOf(store: Store, sessionId: string): string | undefined {
  return store.logDir === undefined ? undefined : `${store.logDir}/${sessionId}`;
}

/** Makes the folder where it is missing. StoreError naming what is in the way, and what to do about it. */
export async function makeLogDir(store: Store, sessionId: string): Promise<void> {
  const folder = logDirOf(store, sessionId);
  if (folder === undefined || store.logDir === undefined) return;
  for (const path of [store.logDir, folder]) await makeFolder(store, path);
}

async function makeFolder(store: Store, path: string): Promise<void> {
  try {
    // Not `recursive: true`: where the system refuses without a reason (under /proc), Node would try for ever.
    await mkdir(path, { mode: 0o700 });
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw refusal(store, path, `cannot be made (${(error as Error).message})`, `mend the folder ${dirname(path)}`, error);
    }
  }
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) throw refusal(store, path, await whatIsThere(path, found), 'move it away');
  await access(path, constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw refusal(store, path, 'cannot be written by this user', 'mend its permissions', error);
  });
}

async function whatIsThere(path: string, found: Stats | undefined): Promise<string> {
  const link = await lstat(path).then((entry) => (entry.isSymbolicLink() ? readlink(path) : undefined)).catch(() => undefined);
  if (link !== undefined) return found === undefined ? `is a link to ${link}, which is not there` : `is a link to ${link}, which is no folder`;
  return 'is no folder';
}

function refusal(store: Store, path: string, found: string, advice: string, cause?: unknown): StoreError {
  return new StoreError('io', `store ${store.location}: its logs go to the folder ${path}, which ${found}; ${advice}, or choose another store. Nothing was started`, { cause });
}
