// The contract of stores: snapshots, and that every load is the merge of all that happened.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldUpdates } from '../../src/core/merge.js';
import { auditSession } from '../../src/store/audit.js';
import { commitOf, completed, ended, newSession, started, T0 } from '../support/store-samples.js';
import { changesOfSteps, foldOfEvents } from '../support/step-streams.js';
import { openAnew, openWithSession, type StoreFixture } from './store-fixture.js';

export function describeMerge(name: string, fixture: StoreFixture): void {
  describe(`store ${name}: snapshots and merge`, () => {
    test('a snapshot holds the session and every step after its commit', async () => {
      const { store, lease } = await openWithSession(fixture);
      await store.commit(commitOf(lease, [started('a'), ended('a', 'z'.repeat(5000)), started('b')]));
      await store.commit(commitOf(lease, [{ ...ended('b', 2), session: { attempts_used: 2 } }], { snapshot: true, reason: 'layer_end' }));
      await store.commit(commitOf(lease, [started('c')]));
      const [checkpoint, ...more] = await store.listCheckpoints('s');
      expect(more).toEqual([]);
      expect(checkpoint).toMatchObject({ seq: 5, reason: 'layer_end', at: T0 + 5, epoch: 1, state: { attempts_used: 2 } });
      expect(checkpoint?.steps).toEqual([
        { step_id: 'a', seq: 3, epoch: 1, state: completed('z'.repeat(5000)) },
        { step_id: 'b', seq: 5, epoch: 1, state: completed(2) },
      ]);
      expect([...(await store.loadSteps('s'))].map(([id, { seq }]) => `${id} ${seq}`)).toEqual(['a 3', 'b 5', 'c 6']);
    });

    test('the newest three snapshots are kept', async () => {
      const { store, lease } = await openWithSession(fixture);
      for (const id of ['a', 'b', 'c', 'd', 'e']) await store.commit(commitOf(lease, [ended(id)], { snapshot: true }));
      expect((await store.listCheckpoints('s')).map((checkpoint) => checkpoint.seq)).toEqual([6, 5, 4]);
    });

    test('snapshots come by themselves, ever more rarely as the session grows', async () => {
      const { store, lease } = await openWithSession(fixture);
      for (let i = 0; i < 60; i += 1) {
        await store.commit(commitOf(lease, Array.from({ length: 500 }, (_, k) => ended(`s${i * 500 + k}`))));
      }
      expect((await store.listCheckpoints('s')).map((checkpoint) => checkpoint.steps.length)).toEqual([23_500, 11_500, 5500]);
      expect((await store.loadSteps('s')).size).toBe(30_000);
      expect((await auditSession(store, 's')).differences).toEqual([]);
    });

    test('what is loaded equals the fold of all events, wherever snapshots were taken and however old the states are', async () => {
      const store = await openAnew(fixture);
      let count = 0;
      await fc.assert(
        fc.asyncProperty(changesOfSteps(), fc.array(fc.boolean(), { maxLength: 10 }), async (commits, snapshots) => {
          const id = `p${(count += 1)}`;
          const lease = await store.createSession(newSession(id));
          await Promise.all(commits.map((changes, i) => store.commit(commitOf(lease, changes, { snapshot: snapshots[i] ?? false }))));
          const loaded = await store.loadSteps(id);
          const events = await store.readEvents(id);
          expect(loaded).toEqual(foldOfEvents(events));
          expect(loaded).toEqual(foldOfEvents([...events].reverse()));
          for (const checkpoint of await store.listCheckpoints(id)) {
            const upTo = events.filter((event) => event.seq <= checkpoint.seq);
            expect(new Map(checkpoint.steps.map((step) => [step.step_id, step]))).toEqual(foldOfEvents(upTo));
            expect(foldUpdates(foldOfEvents(events), checkpoint.steps)).toEqual(loaded);
          }
          expect((await auditSession(store, id)).ok).toBe(true);
        }),
        { numRuns: 60 },
      );
    });
  });
}
