// Opens the database file: what it is, who may read it, how it is written; nothing about sessions.
import { accessSync, chmodSync, closeSync, constants, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../../core/error.js';
import { BLOCKING_WAIT_MS, retryWhileBusy, type BusyPolicy } from './busy.js';
import { asStoreError } from './fault.js';
import { fileKind, openFiles } from './file-kind.js';
import { migrate, needsMigration, readMigrations } from './migrate.js';
import { networkFilesystem } from './network-filesystem.js';
import { unsafeSqlite } from './sqlite-version.js';

export const MEMORY = ':memory:';

// Pages of 4 KiB: the log is copied back at 4 MiB, and cut to that when it had to grow further.
const CHECKPOINT_PAGES = 1000;
const LOG_LIMIT_BYTES = 4 * 1024 * 1024;

/**
 * Opens a store's file, creates it where `create` says so, migrates it.
 * StoreError: every fault but `closed`; a file that is no store is left as it is.
 */
export async function openDatabase(
  path: string,
  options: { create: boolean; busy: BusyPolicy; now: () => number },
): Promise<Database.Database> {
  let db: Database.Database | undefined;
  try {
    if (path !== MEMORY) prepareFile(path, options.create);
    const opened = new Database(path, { timeout: BLOCKING_WAIT_MS });
    db = opened;
    checkLibrary(opened);
    const migrations = readMigrations();
    const busy = <T>(work: () => T) => retryWhileBusy(work, path, options.busy);
    // Before anything is written: the file may belong to another program, or to a newer version of this one.
    const behind = await busy(() => needsMigration(opened, migrations, path));
    if (path !== MEMORY) closeToOthers(path);
    if (path !== MEMORY) await busy(() => useWriteAheadLog(opened, path));
    opened.pragma('foreign_keys = ON');
    opened.pragma('temp_store = MEMORY');
    opened.pragma('trusted_schema = OFF');
    if (behind) await busy(() => migrate(opened, migrations, path, options.now()));
    return opened;
  } catch (error) {
    db?.close();
    throw asStoreError(error, path);
  }
}

function useWriteAheadLog(db: Database.Database, path: string): void {
  const mode = db.pragma('journal_mode = WAL', { simple: true });
  if (mode !== 'wal') throw new StoreError('io', `store ${path}: its file system cannot hold a write-ahead log (SQLite stays in mode ${String(mode)}); choose a local path with --store`);
  // Said explicitly: the library is built with a weaker default for WAL.
  db.pragma('synchronous = FULL');
  // Only macOS knows these: there a plain fsync does not reach the disk.
  db.pragma('fullfsync = ON');
  db.pragma('checkpoint_fullfsync = ON');
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${LOG_LIMIT_BYTES}`);
  db.pragma('mmap_size = 0');
}

function checkLibrary(db: Database.Database): void {
  const version = db.prepare('SELECT sqlite_version()').pluck().get() as string;
  const why = unsafeSqlite(version);
  if (why !== undefined) throw new StoreError('io', `SQLite ${version} is refused: ${why}; update better-sqlite3`);
}

/** Everything that is checked before SQLite sees the file. One that is no store is not touched, nor its neighbours. */
function prepareFile(path: string, create: boolean): void {
  const folder = dirname(path);
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) {
    if (!create) throw new StoreError('not_a_store', `store ${path}: there is no such file; run a plan first, or choose another with --store`);
    makeFolder(folder);
    refuseNetwork(path, folder);
    createPrivately(path, folder);
    return;
  }
  if (!stat.isFile()) throw new StoreError('not_a_store', `store ${path}: expected a file; choose another with --store`);
  refuseNetwork(path, folder);
  accessSync(path, constants.R_OK | constants.W_OK);
  if (openFiles.has(stat)) return;
  const kind = fileKind(path);
  if (kind === 'other' || kind === 'database') {
    const what = kind === 'other' ? 'not a Planwright database' : 'the SQLite database of another program';
    throw new StoreError('not_a_store', `store ${path}: the file is ${what}; it was left as it is: choose another with --store`);
  }
  if (kind === 'empty' && !create) throw new StoreError('not_a_store', `store ${path}: the file is empty; run a plan first, or choose another with --store`);
  if (kind === 'store') closeToOthers(path);
}

// Plans carry what people would not show: a store that became readable for others is closed again.
function closeToOthers(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || (stat.mode & 0o077) === 0 || stat.uid !== process.getuid?.()) return;
  for (const suffix of ['', '-wal', '-shm']) {
    if (statSync(path + suffix, { throwIfNoEntry: false })) chmodSync(path + suffix, 0o600);
  }
}

// Not `recursive: true`: where the system refuses without a reason (under /proc), Node would try for ever.
function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = folder; statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) missing.push(at);
  for (const at of missing.reverse()) {
    try {
      mkdirSync(at, { mode: 0o700 });
    } catch (error) {
      // Another process may make it at the same time.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** An empty file that only its owner can read, from its first moment; SQLite gives its -wal and -shm the same mode. */
function createPrivately(path: string, folder: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // Another process was first.
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
  }
  if (process.platform === 'win32') return;
  // The name of the file must survive a power failure as well as its content.
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function refuseNetwork(path: string, folder: string): void {
  const network = networkFilesystem(folder);
  if (network !== undefined) {
    throw new StoreError('io', `store ${path}: it lies on a network file system (${network}), where SQLite databases get damaged; choose a local path with --store`);
  }
}
