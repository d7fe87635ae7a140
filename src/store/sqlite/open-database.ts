// Opens the database file: what it is, who may read it, how it is written; nothing about sessions.
import { accessSync, chmodSync, closeSync, constants, fsyncSync, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError } from '../../core/error.js';
import { BLOCKING_WAIT_MS, retryWhileBusy, type BusyPolicy } from './busy.js';
import { asStoreError } from './fault.js';
import { migrate, needsMigration, readMigrations } from './migrate.js';
import { networkFilesystem } from './network-filesystem.js';
import { unsafeSqlite } from './sqlite-version.js';

export const MEMORY = ':memory:';

// Pages of 4 KiB: the log is copied back at 4 MiB, and cut to that when it had to grow further.
const CHECKPOINT_PAGES = 1000;
const LOG_LIMIT_BYTES = 4 * 1024 * 1024;
const SQLITE_HEADER = 'SQLite format 3\0';

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
    if (path !== MEMORY) await busy(() => useWriteAheadLog(opened, path));
    opened.pragma('foreign_keys = ON');
    opened.pragma('temp_store = MEMORY');
    opened.pragma('trusted_schema = OFF');
    if (behind) await busy(() => migrate(opened, migrations, path, options.now()));
    return opened;
  } catch (error) {
    db?.close();
    if ((error as { code?: unknown }).code === 'SQLITE_NOTADB' && !beginsAsSqlite(path)) {
      throw new StoreError('not_a_store', `store ${path}: the file is not a Planwright database; it was left as it is: choose another with --store`, { cause: error });
    }
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

/**
 * Everything that is checked before SQLite sees the file. It must not open an existing file: closing it again would
 * drop the locks that another connection of this process holds on it (POSIX locks belong to the process).
 */
function prepareFile(path: string, create: boolean): void {
  const folder = dirname(path);
  const stat = statSync(path, { throwIfNoEntry: false });
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
  // Plans carry what people would not show: a file that became readable for others is closed again.
  if ((stat.mode & 0o077) !== 0 && stat.uid === process.getuid?.()) {
    for (const suffix of ['', '-wal', '-shm']) {
      if (statSync(path + suffix, { throwIfNoEntry: false })) chmodSync(path + suffix, 0o600);
    }
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

/** Asked only about a file that SQLite refused, so that no connection of this process has it open. */
function beginsAsSqlite(path: string): boolean {
  const handle = openSync(path, 'r');
  try {
    const head = Buffer.alloc(SQLITE_HEADER.length);
    readSync(handle, head, 0, head.length, 0);
    return head.toString('latin1') === SQLITE_HEADER;
  } finally {
    closeSync(handle);
  }
}
