// Files that are not Planwright's: nothing of them, and nothing beside them, changes.
import { chmodSync, copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { newSession, temporaryFolder } from '../support/store-samples.js';

const folder = () => temporaryFolder(onTestFinished);

/** Names, modes, times and contents of everything in a folder. */
function look(dir: string): unknown {
  return readdirSync(dir).sort().map((name) => {
    const { mode, size, mtimeMs, ino } = statSync(join(dir, name));
    return [name, mode, size, mtimeMs, ino, readFileSync(join(dir, name)).toString('base64')];
  });
}

/** A database of another program, as it lies on disk while that program runs: its log is not written back. */
function foreignWal(dir: string, path: string): void {
  const live = join(dir, 'live.db');
  const db = new Database(live);
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE photos (name TEXT)');
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.exec("INSERT INTO photos VALUES ('a')");
  for (const suffix of ['', '-wal']) copyFileSync(live + suffix, path + suffix);
  db.close();
}

describe.each([true, false])('opened with create: %s', (create) => {
  test.each<[string, (path: string) => void]>([
    ['a text that everybody may read', (path) => writeFileSync(path, 'notes\n')],
    ['a database', (path) => { const db = new Database(path); db.exec('CREATE TABLE t (a)'); db.close(); }],
    ['a database with a log that is not written back', (path) => foreignWal(folder(), path)],
    ['the beginning of a database', (path) => writeFileSync(path, 'SQLite format 3\0')],
  ])('%s is refused; mode, content and neighbours stay', async (_, make) => {
    const dir = folder();
    const path = join(dir, 'theirs.db');
    make(path);
    for (const name of readdirSync(dir)) chmodSync(join(dir, name), 0o644);
    const before = look(dir);
    await expect(openSqliteStore({ path, create })).rejects.toMatchObject({ fault: 'not_a_store', message: expect.stringContaining('left as it is') as unknown });
    expect(look(dir)).toEqual(before);
  });
});

test('an empty file becomes a store only where one may be made', async () => {
  const dir = folder();
  const path = join(dir, 'empty.db');
  writeFileSync(path, '', { mode: 0o644 });
  const before = look(dir);
  await expect(openSqliteStore({ path, create: false })).rejects.toMatchObject({ fault: 'not_a_store', message: expect.stringContaining('is empty') as unknown });
  expect(look(dir)).toEqual(before);
  await (await openSqliteStore({ path })).close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a store is known by its file alone, also while everything else is in its log', async () => {
  const dir = folder();
  const store = await openSqliteStore({ path: join(dir, 'plan.db') });
  onTestFinished(() => store.close());
  await store.createSession(newSession('s'));
  // As SIGKILL leaves it: nothing was written back.
  for (const suffix of ['', '-wal']) copyFileSync(join(dir, `plan.db${suffix}`), join(dir, `copy.db${suffix}`));
  const copy = await openSqliteStore({ path: join(dir, 'copy.db'), create: false });
  onTestFinished(() => copy.close());
  expect((await copy.listSessions()).length).toBe(1);
});

test.skipIf(!existsSync('/proc/locks'))('opening a store that this process has open keeps the locks of the first', async () => {
  const path = join(folder(), 'plan.db');
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  const locks = () => readFileSync('/proc/locks', 'utf8').split('\n').filter((line) => line.includes(`:${statSync(path).ino} `)).length;
  expect(locks()).toBe(1);
  await (await openSqliteStore({ path, create: false })).close();
  expect(locks()).toBe(1);
});
