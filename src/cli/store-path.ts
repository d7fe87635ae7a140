// Where the store is: --store, else PLAN_HOME, else .plan in the current folder.
import { existsSync, statSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../core/error.js';
import type { CliContext } from './cli-context.js';

const FILE_NAME = 'plan.db';
const DEFAULT_FOLDER = '.plan';
const WHY_NOT: { readonly [code: string]: string } = {
  ENOTDIR: 'a part of its path is a file, not a folder',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its path is a circle of links',
  EACCES: 'a folder of its path must not be entered by this user',
};
const LOOKS_LIKE_A_FILE = /\.(?:db|sqlite3?)$/i;

export interface StorePlace {
  /** Absolute path of the database file. */
  path: string;
  /** What said so. */
  by: '--store' | 'PLAN_HOME' | 'default';
}

/** UsageError `bad_store` when --store names no place for a file. */
export function storePlace(context: Pick<CliContext, 'store' | 'env' | 'cwd'>): StorePlace {
  const { store, env, cwd } = context;
  if (store !== undefined) {
    if (store === '' || store === ':memory:') throw new UsageError('bad_store', `--store expects the path of a file or a folder, found "${store}"`);
    return { path: databaseFile(resolve(cwd, store)), by: '--store' };
  }
  const home = env['PLAN_HOME'] ?? '';
  if (home !== '') return { path: databaseFile(resolve(cwd, home)), by: 'PLAN_HOME' };
  return { path: join(resolve(cwd), DEFAULT_FOLDER, FILE_NAME), by: 'default' };
}

// An existing thing is what it is; one that is not there is a file when its name says so, else a folder.
function databaseFile(path: string): string {
  const stat = lookAt(path);
  const isFile = stat === undefined ? LOOKS_LIKE_A_FILE.test(path) : !stat.isDirectory();
  return isFile ? path : join(path, FILE_NAME);
}

// Undefined where there is nothing yet. What can never be a place for a store is told before anybody tries to make one.
function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const why = WHY_NOT[code] ?? `it cannot be looked at (${code === '' ? String(error) : code})`;
    throw new UsageError('bad_store', `the store ${path} cannot be: ${why}; choose another with --store`);
  }
}

/** Default stores of the folders above one, nearest first. */
export function storesAbove(cwd: string): string[] {
  const found: string[] = [];
  for (let folder = resolve(cwd); dirname(folder) !== folder; ) {
    folder = dirname(folder);
    const path = join(folder, DEFAULT_FOLDER, FILE_NAME);
    if (existsSync(path)) found.push(path);
  }
  return found;
}

/** The option to repeat in a command that the user is told to type; '' when it finds the store without. */
export function storeOption(context: Pick<CliContext, 'store'>): string {
  return context.store === undefined ? '' : ` --store ${shellWord(context.store)}`;
}

/** A word as it must be typed in a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
