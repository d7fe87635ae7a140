// The contract of stores: what is written comes back, whole and in order.
import { describe, expect, test } from 'vitest';
import { StaleEpochError, StoreError } from '../../src/core/error.js';
import type { Change } from '../../src/core/event.js';
import { sha256 } from '../../src/core/json.js';
import { auditSession } from '../../src/store/audit.js';
import type { Lease, Store } from '../../src/store/store.js';
import { commitOf, completed, ended, failed, holderOf, newSession, running, started, T0 } from '../support/store-samples.js';
import { openAnew, openWithSession, type StoreFixture } from './store-fixture.js';

export function describeRecords(name: string, fixture: StoreFixture): void {
  describe(`store ${name}: sessions`, () => {
    test('a new session comes back as it was given, with its plan, its first event and its first lease', async () => {
      const { store, lease } = await openWithSession(fixture);
      const given = newSession('s');
      expect(lease).toEqual({ session_id: 's', holder: given.holder, epoch: 1, expires_at: given.lease_expires_at });
      expect(await store.getSession('s')).toEqual({
        start: given.start, state: given.state, plan_json: given.plan_json, plan_source: given.plan_source,
        last_seq: 1, epoch: 1, updated_at: T0, lease,
      });
      expect(await store.readEvents('s')).toEqual([
        { session_id: 's', seq: 1, at: T0, epoch: 1, type: 'session_created', session: given.state, data: { by: 'test' } },
      ]);
      expect(await store.loadSteps('s')).toEqual(new Map());
    });

    test('an id can be used once', async () => {
      const { store } = await openWithSession(fixture);
      await expect(store.createSession(newSession('s', { at: T0 + 9 }))).rejects.toMatchObject({ name: 'UsageError', code: 'session_exists' });
      expect((await store.getSession('s'))?.updated_at).toBe(T0);
    });

    test('two sessions of one plan keep their own YAML text', async () => {
      const { store } = await openWithSession(fixture, 's');
      await store.createSession(newSession('t', { plan_source: '# a comment more\nplan: 1\n' }));
      expect((await store.getSession('s'))?.plan_source).toContain('ü');
      expect((await store.getSession('t'))?.plan_source).toContain('a comment more');
    });

    test('what does not exist is undefined or empty for readers, and named for writers', async () => {
      const store = await openAnew(fixture);
      expect(await store.getSession('no')).toBeUndefined();
      expect(await store.poll('no')).toBeUndefined();
      expect(await store.getBlob('0'.repeat(64))).toBeUndefined();
      expect([(await store.loadSteps('no')).size, await store.readEvents('no'), await store.listCheckpoints('no'), await store.listSessions()]).toEqual([0, [], [], []]);
      const lease = { session_id: 'no', holder: holderOf('x'), epoch: 1, expires_at: T0 };
      for (const write of [
        store.commit(commitOf(lease, [])),
        store.requestCancel('no', { requested_at: T0, actor: 'a', reason: 'r' }),
        store.acquireLease({ session_id: 'no', holder: holderOf('x'), now: T0, expires_at: T0 + 1 }),
      ]) await expect(write).rejects.toMatchObject({ name: 'UsageError', code: 'unknown_session' });
      await expect(store.renewLease(lease, T0)).rejects.toThrow(StaleEpochError);
      await store.releaseLease(lease);
    });

    test('the list is newest first, filtered and limited', async () => {
      const store = await openAnew(fixture);
      for (const [id, name, at] of [['a', 'x', 1], ['b', 'y', 3], ['c', 'x', 2]] as const) {
        const session = newSession(id, { at: T0 + at });
        await store.createSession({ ...session, start: { ...session.start, plan_name: name, created_at: T0 + at } });
      }
      const lease = (await store.getSession('c'))?.lease as Lease;
      await store.commit(commitOf(lease, [{ type: 'session_completed', session: { status: 'completed', ended_at: T0 + 9 } }]));
      const ids = async (filter?: Parameters<Store['listSessions']>[0]) => (await store.listSessions(filter)).map((s) => s.start.session_id);
      expect(await ids()).toEqual(['b', 'c', 'a']);
      expect(await ids({ limit: 2 })).toEqual(['b', 'c']);
      expect(await ids({ plan_name: 'x' })).toEqual(['c', 'a']);
      expect(await ids({ status: ['completed', 'failed'] })).toEqual(['c']);
      expect(await ids({ status: ['running'], plan_name: 'x' })).toEqual(['a']);
      expect((await store.listSessions())[0]).toMatchObject({ state: { status: 'running' }, lease: { epoch: 1 } });
    });
  });

  describe(`store ${name}: commits`, () => {
    test('events, step states, session changes and blobs of a commit come back', async () => {
      const { store, lease } = await openWithSession(fixture);
      const content = JSON.stringify({ text: 'x'.repeat(50_000) });
      const output = { in: 'blob', digest: sha256(content), bytes: content.length, preview: '{' } as const;
      const long = completed('y'.repeat(30_000));
      const changes: Change[] = [
        { type: 'step_started', step_id: 'constructor', step: running({ verdict: true }), session: { attempts_used: 1 } },
        { type: 'step_completed', step_id: 'constructor', step: completed(null, { output } as object), data: { note: '\u0000 ü \ud83d' } },
        { type: 'step_completed', step_id: 'long', step: long },
        { type: 'session_completed', session: { status: 'completed', attempts_limit: null, ended_at: T0 + 7 } },
      ];
      expect(await store.commit(commitOf(lease, changes, { blobs: [{ digest: output.digest, content }] }))).toBe(5);
      expect((await store.readEvents('s')).slice(1)).toEqual(
        changes.map((change, i) => ({ session_id: 's', seq: i + 2, at: T0 + 5, epoch: 1, ...change })),
      );
      expect([...(await store.loadSteps('s')).values()]).toEqual([
        { step_id: 'constructor', seq: 3, epoch: 1, state: changes[1]?.step },
        { step_id: 'long', seq: 4, epoch: 1, state: long },
      ]);
      const session = await store.getSession('s');
      expect(session).toMatchObject({ last_seq: 5, updated_at: T0 + 5 });
      expect(session?.state).toEqual({ status: 'completed', generation: 1, attempts_used: 1, deadline_at: T0 + 1000, ended_at: T0 + 7 });
      expect(await store.getBlob(output.digest)).toBe(content);
    });

    test('a caller may change its objects once the call returned', async () => {
      const { store, lease } = await openWithSession(fixture);
      const change = ended('a', 'before');
      const done = store.commit(commitOf(lease, [change]));
      (change as { step_id: string }).step_id = 'b';
      (change.step as { status: string }).status = 'failed';
      await done;
      expect((await store.loadSteps('s')).get('a')).toMatchObject({ state: { status: 'completed' } });
    });

    test('a commit of nothing gives the number of the last event', async () => {
      const { store, lease } = await openWithSession(fixture);
      expect(await store.commit(commitOf(lease, []))).toBe(1);
    });

    test('events are read in pages', async () => {
      const { store, lease } = await openWithSession(fixture);
      await store.commit(commitOf(lease, ['a', 'b', 'c', 'd'].map((id) => ended(id))));
      const seqs = async (options: { after?: number; limit?: number }) => (await store.readEvents('s', options)).map((event) => event.seq);
      expect(await seqs({ limit: 2 })).toEqual([1, 2]);
      expect(await seqs({ after: 2, limit: 2 })).toEqual([3, 4]);
      expect(await seqs({ after: 5 })).toEqual([]);
    });

    test('commits queued together get their numbers in order, without a gap', async () => {
      const { store, lease } = await openWithSession(fixture);
      const last = await Promise.all(Array.from({ length: 40 }, (_, i) => store.commit(commitOf(lease, [started(`s${i}`), ended(`s${i}`)]))));
      expect(last).toEqual(Array.from({ length: 40 }, (_, i) => 3 + 2 * i));
      expect((await store.readEvents('s')).map((event) => event.seq)).toEqual(Array.from({ length: 81 }, (_, i) => i + 1));
    });

    test('in a batch, a stale unit and an impossible one are refused alone', async () => {
      const { store, lease } = await openWithSession(fixture);
      const unheard = { ...commitOf(lease, [ended('x')]), changes: [{ type: 'step_failed', step: failed() } as Change] };
      const broken = commitOf(lease, [started('half'), { type: 'step_failed', step_id: 'half', step: failed({ generation: 'one' as unknown as number }) }]);
      const results = await Promise.allSettled([
        store.commit(commitOf(lease, [ended('a')])),
        store.commit(commitOf({ ...lease, epoch: 0 }, [ended('stale')])),
        store.commit(unheard),
        store.commit(broken),
        store.createSession(newSession('s')),
        store.commit(commitOf(lease, [ended('b')])),
      ]);
      expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected', 'rejected', 'fulfilled']);
      expect([...(await store.loadSteps('s')).keys()]).toEqual(['a', 'b']);
      expect((await store.readEvents('s')).map((event) => event.seq)).toEqual([1, 2, 3]);
      expect((await auditSession(store, 's')).differences).toEqual([]);
    });

    test('sessions do not see each other', async () => {
      const { store, lease } = await openWithSession(fixture, 's');
      const other = await store.createSession(newSession('t'));
      await Promise.all([store.commit(commitOf(lease, [ended('a')])), store.commit(commitOf(other, [started('a')]))]);
      expect((await store.loadSteps('s')).get('a')?.state.status).toBe('completed');
      expect((await store.loadSteps('t')).get('a')?.state.status).toBe('running');
    });
  });

  describe(`store ${name}: closing`, () => {
    test('queued commits are finished, later calls are refused, closing twice is closing once', async () => {
      const { store, lease } = await openWithSession(fixture);
      const queued = store.commit(commitOf(lease, [ended('a')]));
      const closed = store.close();
      const late = store.commit(commitOf(lease, [ended('b')]));
      await expect(late).rejects.toMatchObject({ name: 'StoreError', fault: 'closed' });
      expect(await queued).toBe(2);
      await closed;
      await store.close();
      await expect(store.poll('s')).rejects.toThrow(StoreError);
      await expect(store.getSession('s')).rejects.toMatchObject({ fault: 'closed' });
    });
  });
}
