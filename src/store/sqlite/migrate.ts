// Numbered migrations: `schemas/sql/NNNN-name.sql`, applied in order, each once, all in one transaction.
import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { StoreError } from '../../core/error.js';
import { SCHEMAS } from '../../core/schemas-folder.js';
import { APPLICATION_ID } from './file-kind.js';

const FOLDER = new URL('sql/', SCHEMAS);
const FILE = /^(\d{4})-([a-z0-9-]+)\.sql$/;

export interface Migration {
  number: number;
  name: string;
  sql: string;
}

/** Every migration this program knows, in order. */
export function readMigrations(): Migration[] {
  const migrations: Migration[] = [];
  for (const file of readdirSync(FOLDER).sort()) {
    const [, number, name] = FILE.exec(file) ?? [];
    if (number === undefined || name === undefined) continue;
    migrations.push({ number: Number(number), name, sql: readFileSync(new URL(file, FOLDER), 'utf8') });
  }
  return migrations;
}

/**
 * Whether a database needs migrations; true for an empty one.
 * StoreError `not_a_store` when it belongs to another program, `newer` when a newer Planwright wrote it.
 */
export function needsMigration(db: Database, migrations: readonly Migration[], location: string): boolean {
  const applied = appliedNumber(db, location);
  const known = migrations.at(-1)?.number ?? 0;
  if (applied > known) {
    throw new StoreError(
      'newer',
      `store ${location}: it was written by a newer Planwright (its schema is number ${applied}, this program knows up to ${known}); update planwright, or choose another store with --store`,
    );
  }
  return applied < known;
}

/** Applies what is missing. Another process may do the same at the same time: one does it, the other finds it done. */
export function migrate(db: Database, migrations: readonly Migration[], location: string, now: number): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    const applied = appliedNumber(db, location);
    for (const { number, name, sql } of migrations) {
      if (number <= applied) continue;
      db.exec(sql);
      db.prepare('INSERT INTO schema_migrations (number, name, applied_at) VALUES (?, ?, ?)').run(number, name, now);
    }
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Number of the last migration in a database; 0 for an empty database. */
function appliedNumber(db: Database, location: string): number {
  const id = db.pragma('application_id', { simple: true });
  const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() as number;
  if (id === 0 && tables === 0) return 0;
  if (id !== APPLICATION_ID) {
    throw new StoreError('not_a_store', `store ${location}: the file is the SQLite database of another program; it was left as it is: choose another with --store`);
  }
  const number = db.prepare('SELECT max(number) FROM schema_migrations').pluck().get();
  if (typeof number !== 'number') throw new StoreError('corrupt', `store ${location}: its list of migrations is empty; restore a backup`);
  return number;
}
