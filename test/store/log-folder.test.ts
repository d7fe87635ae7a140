// Logs belong to one store file, and what is in their way is told before anything runs.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { StoreError, type Store } from '../../src/index.js';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { executor, fileStore, loaded, recorder, tempDir } from '../support/sessions.js';

async function open(path: string): Promise<Store> {
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  return store;
}

describe('logs belong to one store file', () => {
  test('two stores in one folder keep the logs of equally named sessions apart', async () => {
    const dir = tempDir();
    for (const name of ['a.db', 'b.db', 'a.sqlite']) {
      const store = await open(join(dir, name));
      const result = await executor({ store }).run(await loaded(`steps: { s: { run: "echo ${name}" } }`), { sessionId: 'S' }).result;
      expect(result.status).toBe('completed');
      expect(readdirSync(join(store.logDir as string, 'S'))).toEqual(['s.1.1.log']);
    }
    expect(readdirSync(dir).filter((name) => name.includes('logs')).sort()).toEqual(['a.db.logs', 'a.sqlite.logs', 'b.db.logs']);
  });

  test('the usual file has them in `logs` beside it, and every name of a file leads to the same', async () => {
    const dir = tempDir();
    const store = await open(join(dir, 'plan.db'));
    expect(store.logDir).toMatch(/[^.]\/logs$/);
    symlinkSync(join(dir, 'plan.db'), join(dir, 'other.db'));
    expect((await open(join(dir, 'other.db'))).logDir).toBe(store.logDir);
  });
});

describe('something in the way of the logs', () => {
  test.each<[string, (path: string) => void, RegExp]>([
    ['a file', (path) => writeFileSync(path, 'x'), /logs, which is no folder; move it away/],
    ['a link to nothing', (path) => symlinkSync('/nowhere/at/all', path), /logs, which is a link to \/nowhere\/at\/all, which is not there; move it away/],
    ['a file where the logs of the session go', (path) => (mkdirSync(path), writeFileSync(join(path, 'S'), 'x')), /logs\/S, which is no folder; move it away/],
  ])('%s: told with its place before anything is stored or run', async (_, make, message) => {
    const dir = tempDir();
    const store = await fileStore(dir);
    make(join(dir, '.plan', 'logs'));
    const { functions, calls } = recorder();
    const error: unknown = await executor({ store, functions }).run(await loaded('steps: { s: { call: { function: mark } } }'), { sessionId: 'S' }).result.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).message).toMatch(message);
    expect((error as StoreError).message).toContain('Nothing was started');
    expect(calls).toEqual([]);
    expect(await store.listSessions()).toEqual([]);
  });

  test('a take-over is told the same, and the session stays as it was', async () => {
    const dir = tempDir();
    const store = await fileStore(dir);
    const plan = await loaded('steps: { w: { wait: { for: 1h } }, s: { needs: [w], run: "echo x" } }');
    await executor({ store }).run(plan, { sessionId: 'S', maxWaitMs: 0 }).result;
    const logs = join(dir, '.plan', 'logs');
    rmSync(logs, { recursive: true });
    writeFileSync(logs, '');
    const before = (await store.getSession('S'))?.last_seq;
    await expect(executor({ store }).resume('S', { maxWaitMs: 0 }).result).rejects.toThrow(/which is no folder/);
    expect((await store.getSession('S'))?.last_seq).toBe(before);
    rmSync(logs);
    expect((await executor({ store }).resume('S', { maxWaitMs: 0 }).result).status).toBe('waiting_timer');
    expect(existsSync(join(logs, 'S'))).toBe(true);
  });
});
