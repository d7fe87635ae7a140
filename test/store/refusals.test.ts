// Files that a store refuses, and what it says; nothing that is not its own is ever written.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync, writeSync, closeSync, renameSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { fuseName, nameNetworkFilesystem } from '../../src/store/sqlite/network-filesystem.js';
import { unsafeSqlite } from '../../src/store/sqlite/sqlite-version.js';
import { startStoreChild } from '../support/start-store-child.js';
import { commitOf, ended, newSession, temporaryFolder } from '../support/store-samples.js';

const folder = () => temporaryFolder(onTestFinished);
const refusal = (fault: string, message: RegExp) => ({ name: 'StoreError', fault, message: expect.stringMatching(message) as unknown });

async function closedStore(path: string, steps = 0): Promise<void> {
  const store = await openSqliteStore({ path });
  const lease = await store.createSession(newSession('s'));
  if (steps > 0) await store.commit(commitOf(lease, Array.from({ length: steps }, (_, i) => ended(`s${i}`, 'text'.repeat(50)))));
  await store.close();
}

describe('a file that is not a store', () => {
  test.each([
    ['text', Buffer.from('steps: {}\n')],
    ['random bytes', randomBytes(50_000)],
    ['bytes of a picture', Buffer.from('89504e470d0a1a0a', 'hex')],
  ])('%s: refused and left as it was', async (_, content) => {
    const path = join(folder(), 'plan.db');
    writeFileSync(path, content);
    await expect(openSqliteStore({ path })).rejects.toMatchObject(refusal('not_a_store', /not a Planwright database.*--store/));
    expect(readFileSync(path).equals(content)).toBe(true);
  });

  test('a database of another program: refused and left as it was', async () => {
    const path = join(folder(), 'plan.db');
    const db = new Database(path);
    db.exec('CREATE TABLE photos (name TEXT)');
    db.close();
    const before = readFileSync(path);
    await expect(openSqliteStore({ path })).rejects.toMatchObject(refusal('not_a_store', /another program/));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test('a folder, and a missing file when none may be created', async () => {
    const path = join(folder(), 'plan.db');
    await expect(openSqliteStore({ path, create: false })).rejects.toMatchObject(refusal('not_a_store', /no such file/));
    expect(existsSync(path)).toBe(false);
    mkdirSync(path);
    await expect(openSqliteStore({ path })).rejects.toMatchObject(refusal('not_a_store', /expected a file/));
  });

  test('an empty file, as a crash during the very first start leaves it, becomes a store', async () => {
    const path = join(folder(), 'plan.db');
    writeFileSync(path, '');
    await closedStore(path);
  });
});

describe('a damaged store', () => {
  test('is told as corrupt when its pages are overwritten', async () => {
    const path = join(folder(), 'plan.db');
    await closedStore(path, 500);
    const file = openSync(path, 'r+');
    const noise = randomBytes(statSync(path).size - 100);
    writeSync(file, noise, 0, noise.length, 100);
    closeSync(file);
    await expect(openSqliteStore({ path })).rejects.toMatchObject(refusal('corrupt', /damaged.*backup/));
  });

  test('is told as corrupt when the damage is met later', async () => {
    const path = join(folder(), 'plan.db');
    await closedStore(path, 500);
    const db = new Database(path);
    db.exec("UPDATE step_updates SET state_json = '{' WHERE step_id = 's7'");
    db.close();
    const store = await openSqliteStore({ path });
    onTestFinished(() => store.close());
    await expect(store.loadSteps('s')).rejects.toMatchObject(refusal('corrupt', /step s7/));
    expect((await store.listSessions()).length).toBe(1);
  });

  test('is told as corrupt when a blob is not what its digest says', async () => {
    const path = join(folder(), 'plan.db');
    await closedStore(path);
    const db = new Database(path);
    const digest = '0'.repeat(64);
    db.prepare('INSERT INTO blobs VALUES (?, ?)').run(digest, 'x');
    db.close();
    const store = await openSqliteStore({ path });
    onTestFinished(() => store.close());
    await expect(store.getBlob(digest)).rejects.toMatchObject(refusal('corrupt', /does not match its digest/));
  });
});

describe('a store that cannot be written', () => {
  test('a newer one names both versions', async () => {
    const path = join(folder(), 'plan.db');
    await closedStore(path);
    const db = new Database(path);
    db.exec("INSERT INTO schema_migrations VALUES (97, 'future', 0)");
    db.close();
    await expect(openSqliteStore({ path })).rejects.toMatchObject(refusal('newer', /number 97.*knows up to \d+.*update planwright/));
  });

  // The superuser may write anything, so for root another user's process tries.
  const asNobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  test.each(['file', 'folder'])('a read-only %s is told before any work', async (what) => {
    const home = folder();
    const path = join(home, 'plan.db');
    await closedStore(path);
    chmodSync(home, what === 'folder' ? 0o555 : 0o777);
    chmodSync(path, what === 'folder' ? 0o666 : 0o444);
    onTestFinished(() => chmodSync(home, 0o777));
    const [line] = await startStoreChild(['open', path], asNobody).ended();
    expect(line).toMatch(/^read_only .*cannot be written.*--store/);
  });

  test('a full disk fails the commit whole; the store works again when there is room', async (context) => {
    const mount = folder();
    if (process.getuid?.() !== 0 || spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', mount]).status !== 0) {
      return context.skip('mounting a small disk needs root');
    }
    onTestFinished(() => void spawnSync('umount', ['-l', mount]));
    const store = await openSqliteStore({ path: join(mount, 'plan.db') });
    const lease = await store.createSession(newSession('s'));
    let stored = 0;
    let refused: unknown;
    for (let i = 0; i < 100 && refused === undefined; i += 1) {
      await store.commit(commitOf(lease, [ended(`s${i}`, 'x'.repeat(100_000))])).then(() => (stored += 1), (error: unknown) => (refused = error));
    }
    expect(refused).toMatchObject(refusal('full', /disk is full.*resume/));
    expect((await store.loadSteps('s')).size).toBe(stored);
    spawnSync('mount', ['-o', 'remount,size=32m', mount]);
    expect(await store.commit(commitOf(lease, [ended('again')]))).toBe(stored + 2);
    await store.close();
  });

  test('a full database fails every commit of the batch, and each says so', async () => {
    const path = join(folder(), 'plan.db');
    await closedStore(path);
    const { openDatabase } = await import('../../src/store/sqlite/open-database.js');
    const { SqliteStore } = await import('../../src/store/sqlite/sqlite-store.js');
    const busy = { timeoutMs: 1000, random: Math.random };
    const db = await openDatabase(path, { create: false, busy, now: () => 0 });
    db.pragma(`max_page_count = ${String(db.pragma('page_count', { simple: true }))}`);
    const store = new SqliteStore(db, path, busy, { id: 'full', instance: '1' });
    const lease = (await store.getSession('s'))?.lease;
    if (!lease) throw new Error('no lease');
    const results = await Promise.allSettled(['a', 'b'].map((id) => store.commit(commitOf(lease, [ended(id, 'x'.repeat(50_000))]))));
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: refusal('full', /nothing of this commit was stored/) });
    db.pragma('max_page_count = 100000');
    expect(await store.commit(commitOf(lease, [ended('a')]))).toBe(2);
    await store.close();
  });

  test('a file that was deleted or replaced under a running process takes no more commits', async () => {
    const path = join(folder(), 'plan.db');
    const store = await openSqliteStore({ path });
    const lease = await store.createSession(newSession('s'));
    renameSync(path, `${path}.moved`);
    await expect(store.commit(commitOf(lease, [ended('a')]))).rejects.toMatchObject(refusal('gone', /deleted or replaced/));
    renameSync(`${path}.moved`, path);
    expect(await store.commit(commitOf(lease, [ended('a')]))).toBe(2);
    rmSync(path);
    await expect(store.commit(commitOf(lease, [ended('b')]))).rejects.toMatchObject(refusal('gone', /deleted or replaced/));
    await store.close();
  });
});

describe('who may read a store', () => {
  test('files are 0600 and the folder 0700, even where the umask gives everything away', async () => {
    const path = join(folder(), 'deep', '.plan', 'plan.db');
    const lines = await startStoreChild(['modes', path]).ended();
    expect(lines.sort()).toEqual(['. 700', 'plan.db 600', 'plan.db-shm 600', 'plan.db-wal 600']);
  });

  test('a store that became readable for others is closed again', async () => {
    const path = join(folder(), 'plan.db');
    await closedStore(path);
    chmodSync(path, 0o644);
    const store = await openSqliteStore({ path });
    await store.createSession(newSession('t'));
    expect(['', '-wal', '-shm'].map((suffix) => statSync(path + suffix).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    await store.close();
  });
});

describe('where a store may lie', () => {
  test.each([
    [0x6969, 'nfs'],
    [0xff534d42, 'cifs'],
    [-11317950, 'cifs'], // the same number, signed
    [0x517b, 'smb'],
    [0xef53, undefined], // ext4
    [0x01021994, undefined], // tmpfs
  ])('file system 0x%x', (type, name) => {
    expect(nameNetworkFilesystem(type, () => undefined)).toBe(name);
  });

  test('FUSE is refused for network drives only', () => {
    const mounts = '36 25 0:31 / /mnt/far rw,nosuid shared:1 - fuse.sshfs me@host:/ rw\n37 25 0:32 / /mnt/near rw - fuse.mergerfs a:b rw';
    expect(nameNetworkFilesystem(0x65735546, () => fuseName(31, mounts))).toBe('fuse.sshfs');
    expect(nameNetworkFilesystem(0x65735546, () => fuseName(32, mounts))).toBeUndefined();
    expect(nameNetworkFilesystem(0x65735546, () => fuseName(99, mounts))).toBeUndefined();
  });

  test('libraries with the WAL-reset fault are refused, repaired lines are not', () => {
    const safe = ['3.51.3', '3.53.2', '3.50.7', '3.44.6', '4.0.0'];
    const unsafe = ['3.51.2', '3.50.6', '3.46.1', '3.44.5', '3.45.9', '3.52.0', '3.7.0'];
    expect(safe.map(unsafeSqlite)).toEqual(safe.map(() => undefined));
    expect(unsafe.filter((version) => unsafeSqlite(version) === undefined)).toEqual([]);
  });
});

test('a folder that the system refuses to make is an error at once, not a search without end', async () => {
  await expect(openSqliteStore({ path: '/proc/1/planwright-no/plan.db' })).rejects.toMatchObject({ name: 'StoreError', fault: 'io' });
});
