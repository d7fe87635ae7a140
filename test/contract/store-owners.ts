// The contract of stores: who may write, who must stop, what several processes see of each other.
import { describe, expect, onTestFinished, test } from 'vitest';
import { CancelRequestedError, StaleEpochError, UsageError } from '../../src/core/error.js';
import type { Change } from '../../src/core/event.js';
import { sha256 } from '../../src/core/json.js';
import { auditSession } from '../../src/store/audit.js';
import type { Lease, Store } from '../../src/store/store.js';
import { commitOf, ended, holderOf, started, T0 } from '../support/store-samples.js';
import { openWithSession, type StoreFixture } from './store-fixture.js';

export function describeOwners(name: string, fixture: StoreFixture): void {
  describe(`store ${name}: leases`, () => {
    const take = (store: Store, token: string, now: number, replaces?: number) =>
      store.acquireLease({ session_id: 's', holder: holderOf(token), now, expires_at: now + 30_000, ...(replaces === undefined ? {} : { replaces }) });

    test('a lease in force is shown to whoever wants it, and nothing is written', async () => {
      const { store, lease } = await openWithSession(fixture);
      expect(await take(store, 'second', T0 + 29_999)).toEqual({ held: lease });
      expect(await store.getSession('s')).toMatchObject({ last_seq: 1, epoch: 1, lease });
    });

    test('an expired lease is taken over with the next epoch, and an event says from whom', async () => {
      const { store, lease } = await openWithSession(fixture);
      const next = { session_id: 's', holder: holderOf('second'), epoch: 2, expires_at: T0 + 60_000 };
      expect(await take(store, 'second', T0 + 30_000)).toEqual({ lease: next });
      expect(await store.getSession('s')).toMatchObject({ epoch: 2, lease: next, last_seq: 2 });
      expect((await store.readEvents('s', { after: 1 }))[0]).toMatchObject({
        type: 'lease_acquired', epoch: 2, at: T0 + 30_000, data: { holder: next.holder, took_over: true, from: lease.holder },
      });
    });

    test('a dead holder is replaced at once, but only the one that was found dead', async () => {
      const { store } = await openWithSession(fixture);
      expect(await take(store, 'second', T0 + 1, 1)).toMatchObject({ lease: { epoch: 2 } });
      expect(await take(store, 'third', T0 + 2, 1)).toMatchObject({ held: { epoch: 2 } });
    });

    test('of several that want a dead session at once, one gets it', async () => {
      const { store } = await openWithSession(fixture);
      const results = await Promise.all(['x', 'y', 'z'].map((token) => take(store, token, T0 + 1, 1)));
      expect(results.filter((result) => 'lease' in result)).toHaveLength(1);
      expect(results.filter((result) => 'held' in result && result.held.epoch === 2)).toHaveLength(2);
    });

    test('renewing moves the expiry; a lease that is not ours any more cannot be renewed', async () => {
      const { store, lease } = await openWithSession(fixture);
      await store.renewLease(lease, T0 + 90_000);
      expect(await take(store, 'second', T0 + 60_000)).toMatchObject({ held: { expires_at: T0 + 90_000 } });
      await take(store, 'second', T0 + 90_000);
      await expect(store.renewLease(lease, T0 + 200_000)).rejects.toThrow(StaleEpochError);
      const stranger = { ...lease, epoch: 2 };
      await expect(store.renewLease(stranger, T0 + 200_000)).rejects.toThrow(StaleEpochError);
      expect((await store.getSession('s'))?.lease?.expires_at).toBe(T0 + 120_000);
    });

    test('a released session is free at once; the epoch still grows', async () => {
      const { store, lease } = await openWithSession(fixture);
      await store.releaseLease(lease);
      await store.releaseLease(lease);
      expect((await store.getSession('s'))?.lease).toBeUndefined();
      expect(await take(store, 'second', T0 + 1)).toMatchObject({ lease: { epoch: 2 } });
      expect((await store.readEvents('s', { after: 1 }))[0]).toMatchObject({ data: { took_over: false } });
    });

    test('giving up a lease that another holds now does nothing', async () => {
      const { store, lease } = await openWithSession(fixture);
      await take(store, 'second', T0 + 1, 1);
      await store.releaseLease(lease);
      expect((await store.getSession('s'))?.lease?.epoch).toBe(2);
    });

    test('a writer that lost the session, or gave it up, changes nothing at all', async () => {
      const { store, lease } = await openWithSession(fixture);
      const write = () => store.commit(commitOf(lease, [{ ...ended('a'), session: { status: 'completed' } }], {
        blobs: [{ digest: sha256('b'), content: 'b' }], snapshot: true,
      }));
      const taken = await take(store, 'second', T0 + 1, 1);
      const before = await store.getSession('s');
      await expect(write()).rejects.toThrow(StaleEpochError);
      if ('lease' in taken) await store.releaseLease(taken.lease);
      await expect(store.commit(commitOf({ ...lease, epoch: 2 }, [ended('a')]))).rejects.toThrow(/given up/);
      const after = await store.getSession('s');
      expect({ ...after, lease: undefined }).toEqual({ ...before, lease: undefined });
      expect([await store.loadSteps('s'), await store.listCheckpoints('s'), await store.getBlob(sha256('b'))]).toEqual([new Map(), [], undefined]);
    });

    test('an expired lease that nobody took still writes and can be renewed', async () => {
      const { store, lease } = await openWithSession(fixture);
      await store.commit(commitOf(lease, [ended('a')], { at: T0 + 999_999 }));
      await store.renewLease(lease, T0 + 2_000_000);
    });
  });

  describe(`store ${name}: cancel`, () => {
    const ask = { requested_at: T0 + 2, actor: 'ann', reason: 'wrong region' };

    test('the first cancel stays, a second one gets the first, and one event tells it', async () => {
      const { store } = await openWithSession(fixture);
      expect(await store.requestCancel('s', ask)).toEqual(ask);
      expect(await store.requestCancel('s', { ...ask, actor: 'bob', requested_at: T0 + 3 })).toEqual(ask);
      expect(await store.poll('s')).toEqual({ epoch: 1, cancel: ask });
      expect((await store.getSession('s'))?.cancel).toEqual(ask);
      expect((await store.listSessions())[0]?.cancel).toEqual(ask);
      expect((await store.readEvents('s', { after: 1 })).map(({ type, data }) => ({ type, data }))).toEqual([{ type: 'cancel_requested', data: ask }]);
    });

    test('after a cancel nothing starts, but what runs is still recorded', async () => {
      const { store, lease } = await openWithSession(fixture);
      const [, begun] = await Promise.allSettled([store.requestCancel('s', ask), store.commit(commitOf(lease, [started('a')], { unless_cancelled: true }))]);
      expect(begun).toMatchObject({ status: 'rejected', reason: expect.any(CancelRequestedError) as unknown });
      expect((await store.loadSteps('s')).size).toBe(0);
      await store.commit(commitOf(lease, [ended('b')]));
      expect((await store.loadSteps('s')).size).toBe(1);
    });

    test('once the session is ending by its cancel, its finally steps may start', async () => {
      const { store, lease } = await openWithSession(fixture);
      await store.requestCancel('s', ask);
      await store.commit(commitOf(lease, [{ type: 'session_ending', session: { ending: 'failed' } }]));
      await expect(store.commit(commitOf(lease, [started('f')], { unless_cancelled: true }))).rejects.toThrow(CancelRequestedError);
      await store.commit(commitOf(lease, [{ type: 'session_ending', session: { ending: 'cancelled' } }]));
      await store.commit(commitOf(lease, [started('f')], { unless_cancelled: true }));
    });

    test('an ended session cannot be cancelled', async () => {
      const { store, lease } = await openWithSession(fixture);
      await store.commit(commitOf(lease, [{ type: 'session_failed', session: { status: 'failed' } }]));
      await expect(store.requestCancel('s', ask)).rejects.toThrow(UsageError);
      await expect(store.requestCancel('s', ask)).rejects.toMatchObject({ code: 'session_ended' });
    });

    test('a retry of a cancelled session starts without its old cancel', async () => {
      const { store, lease } = await openWithSession(fixture);
      await store.requestCancel('s', ask);
      await store.commit(commitOf(lease, [{ type: 'session_cancelled', session: { status: 'cancelled' } }]));
      const retried: Change = { type: 'session_retried', session: { status: 'running', generation: 2 } };
      await expect(store.commit(commitOf(lease, [retried]))).rejects.toThrow(/belong together/);
      await store.commit(commitOf(lease, [retried], { clear_cancel: true }));
      await store.commit(commitOf(lease, [started('a')], { unless_cancelled: true }));
      expect(await store.poll('s')).toEqual({ epoch: 1 });
      expect((await auditSession(store, 's')).differences).toEqual([]);
    });

    test('poll tells the epoch in force', async () => {
      const { store } = await openWithSession(fixture);
      await store.acquireLease({ session_id: 's', holder: holderOf('second'), now: T0, expires_at: T0 + 1, replaces: 1 });
      expect(await store.poll('s')).toEqual({ epoch: 2 });
    });
  });

  describe(`store ${name}: two processes`, () => {
    const { openAgain } = fixture;
    const skip = typeof openAgain === 'function' ? undefined : openAgain.skip;
    const both = async (): Promise<{ one: Store; two: Store; lease: Lease }> => {
      const { store, lease } = await openWithSession(fixture);
      if (typeof openAgain !== 'function') throw new Error(openAgain.skip);
      const two = await openAgain();
      onTestFinished(() => two.close());
      return { one: store, two, lease };
    };

    test('commits of both get numbers without a gap, and none is lost', async (context) => {
      if (skip !== undefined) return context.skip(skip);
      const { one, two, lease } = await both();
      await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 2 ? one : two).commit(commitOf(lease, [ended(`s${i}`)]))));
      expect((await one.readEvents('s')).map((event) => event.seq)).toEqual(Array.from({ length: 101 }, (_, i) => i + 1));
      expect((await two.loadSteps('s')).size).toBe(100);
      expect((await auditSession(two, 's')).differences).toEqual([]);
    });

    test('a takeover by one stops the other in its next commit', async (context) => {
      if (skip !== undefined) return context.skip(skip);
      const { one, two, lease } = await both();
      await one.commit(commitOf(lease, [ended('a')]));
      const taken = await two.acquireLease({ session_id: 's', holder: holderOf('two'), now: T0, expires_at: T0 + 1, replaces: 1 });
      await expect(one.commit(commitOf(lease, [ended('b')]))).rejects.toThrow(StaleEpochError);
      if (!('lease' in taken)) throw new Error('not taken');
      await two.commit(commitOf(taken.lease, [ended('c')]));
      expect([...(await one.loadSteps('s')).keys()]).toEqual(['a', 'c']);
    });

    test('a cancel asked of one is seen by the other', async (context) => {
      if (skip !== undefined) return context.skip(skip);
      const { one, two, lease } = await both();
      await two.requestCancel('s', { requested_at: T0, actor: 'a', reason: 'r' });
      expect((await one.poll('s'))?.cancel).toMatchObject({ actor: 'a' });
      await expect(one.commit(commitOf(lease, [started('a')], { unless_cancelled: true }))).rejects.toThrow(CancelRequestedError);
    });

    test('everything is there for the next one after closing', async (context) => {
      if (skip !== undefined) return context.skip(skip);
      const { one, two, lease } = await both();
      await Promise.all([one.commit(commitOf(lease, [ended('a')])), one.close()]);
      expect((await two.loadSteps('s')).get('a')).toMatchObject({ seq: 2 });
    });
  });
}
