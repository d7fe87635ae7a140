// What a host may do after its store failed: go on in the same process, as soon as the store works.
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { StoreError, type Store } from '../../src/index.js';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { eventNames, executor, loaded, memoryStore, recorder, tempDir } from '../support/sessions.js';

/** A store whose writes fail as on a full disk while `full` is set. */
function fillable(store: Store): { store: Store; full: boolean } {
  const disk = { store, full: false };
  const refuse = () => {
    if (disk.full) throw new StoreError('full', 'the disk is full');
  };
  disk.store = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const writes = ['commit', 'releaseLease', 'renewLease', 'acquireLease'].includes(String(name));
      return async (...args: unknown[]) => {
        if (writes) refuse();
        return (member as (...given: unknown[]) => unknown).apply(target, args);
      };
    },
  });
  return disk;
}

const PLAN = 'steps: { a: { call: { function: first } }, b: { needs: [a], call: { function: mark } } }';

describe('after a store fault', () => {
  test('full disk: the same process resumes its session, without waiting for any lease', async () => {
    const disk = fillable(await memoryStore());
    const { functions, count } = recorder({ first: () => ((disk.full = count('a') === 1), {}) });
    const one = executor({ store: disk.store, functions });
    await expect(one.run(await loaded(PLAN), { sessionId: 'S' }).result).rejects.toMatchObject({ fault: 'full' });
    expect((await disk.store.getSession('S'))?.lease).toBeDefined();
    disk.full = false;
    expect((await one.resume('S').result).status).toBe('completed');
    expect(count('b')).toBe(1);
  });

  test('full disk: the lease is given back as soon as there is room, for other processes', async () => {
    const disk = fillable(await memoryStore());
    const { functions } = recorder({ first: () => ((disk.full = true), {}) });
    await executor({ store: disk.store, functions }).run(await loaded(PLAN), { sessionId: 'S' }).result.catch(() => undefined);
    disk.full = false;
    await expect.poll(async () => (await disk.store.getSession('S'))?.lease, { timeout: 5000 }).toBeUndefined();
  });

  test('a closed store gives its leases back, so that its sessions can be resumed at once', async () => {
    const path = join(tempDir(), 'plan.db');
    const open = async () => {
      const store = await openSqliteStore({ path });
      onTestFinished(() => store.close());
      return store;
    };
    const store = await open();
    const { functions, count } = recorder({ first: () => (count('a') === 1 ? store.close().then(() => ({})) : {}) });
    await expect(executor({ store, functions }).run(await loaded(PLAN), { sessionId: 'S' }).result).rejects.toMatchObject({ fault: 'closed' });
    const again = await open();
    expect((await again.getSession('S'))?.lease).toBeUndefined();
    expect((await executor({ store: again, functions }).resume('S').result).status).toBe('completed');
    expect(await eventNames(again, 'S')).toContain('step_interrupted a');
  });

  test('a drive that still runs in this process keeps its session', async () => {
    const store = await memoryStore();
    let go = () => undefined as void;
    const { functions } = recorder({ first: () => new Promise<object>((done) => (go = () => done({}))) });
    const one = executor({ store, functions });
    const handle = one.run(await loaded(PLAN), { sessionId: 'S' });
    await expect.poll(async () => await eventNames(store, 'S').catch(() => [])).toContain('step_started a');
    await expect(one.resume('S').result).rejects.toMatchObject({ name: 'SessionHeldError' });
    go();
    expect((await handle.result).status).toBe('completed');
  });
});
