// The one way to get a SQLite store.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { systemClock, type Clock } from '../../core/clock.js';
import { StoreError } from '../../core/error.js';
import type { Store } from '../store.js';
import { BUSY_TIMEOUT_MS, retryWhileBusy, type BusyPolicy } from './busy.js';
import { asStoreError } from './fault.js';
import { MEMORY, openDatabase } from './open-database.js';
import { SqliteStore } from './sqlite-store.js';

export interface SqliteStoreOptions {
  /** Path of the database file, such as `.plan/plan.db`, or `:memory:` for a store that ends with the process. */
  path: string;
  /** Default: the machine's. It stamps migrations; everything else carries its own time. */
  clock?: Clock;
  /** False: a missing file is StoreError `not_a_store` instead of a new store. Default true. */
  create?: boolean;
  /** How long a call waits while other processes hold the file, ms. Default 30,000. */
  busyTimeoutMs?: number;
  /** A number in [0, 1) for the jitter of that wait. Default Math.random. */
  random?: () => number;
}

/**
 * Opens (or creates) a store in one SQLite file, written in WAL mode with `synchronous=FULL`. One process should open
 * a file once; any number of processes may use it at the same time.
 * StoreError: `newer`, `corrupt`, `not_a_store`, `read_only`, `full`, `busy`, `io` (also for network file systems).
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const path = options.path === MEMORY ? MEMORY : resolve(options.path);
  const busy = { timeoutMs: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS, random: options.random ?? Math.random };
  const clock = options.clock ?? systemClock;
  const db = await openDatabase(path, { create: options.create ?? true, busy, now: () => clock.now() });
  try {
    return new SqliteStore(db, path, busy, { id: await storeId(db, path, busy), instance: instanceOf(path) });
  } catch (error) {
    db.close();
    throw asStoreError(error, path);
  }
}

async function storeId(db: Database, path: string, busy: BusyPolicy): Promise<string> {
  const id = await retryWhileBusy(() => db.prepare('SELECT id FROM store_id').pluck().get(), path, busy);
  if (typeof id !== 'string') throw new StoreError('corrupt', `store ${path}: it has lost its id (table store_id is empty); restore a backup`);
  return id;
}

function instanceOf(path: string): string {
  if (path === MEMORY) return 'memory';
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev.toString(16)}-${ino.toString(16)}`;
}
