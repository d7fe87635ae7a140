// Files of a store that are deleted, replaced or cut while it is open: noticed, told, and nothing is written behind them.
import { existsSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import type { Lease, Store } from '../../src/store/store.js';
import { commitOf, ended, newSession, temporaryFolder } from '../support/store-samples.js';
import { executor, fileStore, loaded, recorder, tempDir } from '../support/sessions.js';

async function opened(): Promise<{ path: string; store: Store; lease: Lease }> {
  const path = join(temporaryFolder(onTestFinished), 'plan.db');
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  const lease = await store.createSession(newSession('s'));
  return { path, store, lease };
}

describe('a commit is refused, and says why, when', () => {
  test.each<[string, RegExp, (path: string) => void]>([
    ['the log was cut to nothing', /write-ahead log .*plan\.db-wal was cut/, (path) => truncateSync(`${path}-wal`, 0)],
    ['the log lost its end', /was cut/, (path) => truncateSync(`${path}-wal`, 4096)],
    ['the log was cut and grew again', /was cut/, (path) => { truncateSync(`${path}-wal`, 0); truncateSync(`${path}-wal`, 1_000_000); }],
    ['the log was deleted', /plan\.db-wal was deleted or replaced/, (path) => rmSync(`${path}-wal`)],
    ['the shared index was deleted', /plan\.db-shm was deleted or replaced/, (path) => rmSync(`${path}-shm`)],
    ['the file was emptied', /the file was emptied/, (path) => truncateSync(path, 0)],
    ['the file was deleted', /the file was deleted or replaced/, (path) => rmSync(path)],
    ['the file was replaced', /the file was deleted or replaced/, (path) => { renameSync(path, `${path}.old`); writeFileSync(path, 'x'); }],
  ])('%s', async (_, message, harm) => {
    const { path, store, lease } = await opened();
    harm(path);
    // The log is measured every 50 ms.
    const [real, late] = [performance.now.bind(performance), 60];
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => real() + late);
    onTestFinished(() => spy.mockRestore());
    await expect(store.commit(commitOf(lease, [ended('a')]))).rejects.toMatchObject({ fault: 'gone', message: expect.stringMatching(message) as unknown });
    await expect(store.renewLease(lease, 1)).rejects.toMatchObject({ fault: 'gone' });
  });
});

test('reading notices a file that is not there any more', async () => {
  const { path, store } = await opened();
  rmSync(path);
  await expect(store.readEvents('s')).rejects.toMatchObject({ fault: 'gone' });
  await expect(store.poll('s')).rejects.toMatchObject({ fault: 'gone' });
});

test('what SQLite does itself with its log is no fault: copying back, cutting, beginning anew', async () => {
  const { path, store, lease } = await opened();
  const other = await openSqliteStore({ path });
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(path);
  onTestFinished(() => void db.close());
  for (let i = 0; i < 60; i += 1) {
    await store.commit(commitOf(lease, [ended(`s${i}`, 'x'.repeat(50_000))]));
    if (i % 3 === 0) db.pragma(`wal_checkpoint(${['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'][(i / 3) % 4]})`);
    if (i === 30) await other.close();
  }
  expect((await store.loadSteps('s')).size).toBe(60);
});

test('a driver ends at once what it runs, and says it, although nothing is to be saved for a while', async () => {
  const dir = tempDir();
  const store = await fileStore(dir);
  const { functions, calls } = recorder({ hang: (_, { signal }) => new Promise((_done, reject) => signal.addEventListener('abort', () => reject(new Error('ended')), { once: true })) });
  const handle = executor({ store, functions }).run(await loaded('steps: { a: { call: { function: hang } }, b: { needs: [a], after: any, call: { function: mark } } }'), { sessionId: 'S' });
  await expect.poll(() => calls).toEqual(['a']);
  rmSync(join(dir, '.plan', 'plan.db'));
  const began = performance.now();
  await expect(handle.result).rejects.toMatchObject({ name: 'StoreError', fault: 'gone' });
  expect(performance.now() - began).toBeLessThan(3000);
  expect(calls).toEqual(['a']);
  expect(existsSync(join(dir, '.plan', 'plan.db'))).toBe(false);
});
