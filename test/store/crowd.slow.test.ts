// Many processes on one file: nobody waits for ever, nobody holds the event loop, nobody sees SQLite's BUSY.
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { auditSession } from '../../src/store/audit.js';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { startStoreChild } from '../support/start-store-child.js';
import { commitOf, ended, newSession, temporaryFolder } from '../support/store-samples.js';

async function newStore(busyTimeoutMs = 30_000) {
  const path = join(temporaryFolder(onTestFinished), 'plan.db');
  const store = await openSqliteStore({ path, busyTimeoutMs });
  onTestFinished(() => store.close());
  return { path, store, lease: await store.createSession(newSession('s')) };
}

describe('several processes on one store', () => {
  test('three that write as fast as they can lose nothing, see no error and do not starve', async () => {
    const { path, store } = await newStore();
    const children = [1, 2, 3].map(() => startStoreChild(['hammer', path, '150']));
    await Promise.all(children.map((child) => child.said('ready')));
    for (const child of children) child.process.stdin.write('go\n');
    const ends = await Promise.all(children.map((child) => child.ended()));
    const slowest = ends.map((lines) => Number(lines.at(-1)?.split(' ')[1]));
    expect(Math.max(...slowest)).toBeLessThan(5000);
    expect((await store.getSession('s'))?.last_seq).toBe(1 + 3 * 150);
    expect((await store.loadSteps('s')).size).toBe(450);
    expect((await auditSession(store, 's')).differences).toEqual([]);
  }, 60_000);

  test('several that create the same store at once all get it', async () => {
    const path = join(temporaryFolder(onTestFinished), 'new', 'plan.db');
    const children = [1, 2, 3, 4].map(() => startStoreChild(['open', path]));
    expect((await Promise.all(children.map((child) => child.ended()))).flat()).toEqual(['opened', 'opened', 'opened', 'opened']);
  }, 30_000);

  test('while another process holds the file the event loop goes on, reads work, and commits land afterwards', async () => {
    const { path, store, lease } = await newStore();
    const holder = startStoreChild(['hold', path]);
    await holder.said('ready');
    let longest = 0;
    let last = performance.now();
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    onTestFinished(() => clearInterval(beat));
    const commits = [1, 2, 3].map((n) => store.commit(commitOf(lease, [ended(`s${n}`)])));
    const first = await Promise.race([commits[0], new Promise((resolve) => setTimeout(resolve, 400, 'still waiting'))]);
    expect(first).toBe('still waiting');
    expect(await store.poll('s')).toEqual({ epoch: 1 });
    expect(longest).toBeLessThan(250);
    holder.process.stdin.write('go\n');
    expect(await Promise.all(commits)).toEqual([2, 3, 4]);
  }, 30_000);

  test('a file held for too long is an error that says so, and the store works afterwards', async () => {
    const { path, store, lease } = await newStore(150);
    const holder = startStoreChild(['hold', path]);
    await holder.said('ready');
    const early = store.commit(commitOf(lease, [ended('early')]));
    await expect(early).rejects.toMatchObject({ name: 'StoreError', fault: 'busy', message: expect.stringContaining('another process held it for 0.2 s') as unknown });
    holder.process.stdin.write('go\n');
    await holder.ended();
    expect(await store.commit(commitOf(lease, [ended('late')]))).toBe(2);
    expect([...(await store.loadSteps('s')).keys()]).toEqual(['late']);
  }, 30_000);
});
