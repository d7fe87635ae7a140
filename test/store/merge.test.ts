// Load = merge: one test a rule, over streams of states that no orderly run would make.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldUpdates, supersedes, type StepUpdate } from '../../src/core/merge.js';
import { isTerminal } from '../../src/core/step-state.js';
import { stepUpdates } from '../support/step-streams.js';

const fold = (updates: Iterable<StepUpdate>) => foldUpdates(new Map<string, StepUpdate>(), updates);
const RUNS = { numRuns: 300 };

/** A stream, and the same updates shuffled, some of them several times. */
const shuffled = stepUpdates().chain((updates) =>
  fc.tuple(
    fc.constant(updates),
    fc.shuffledSubarray([...updates, ...updates, ...updates], { minLength: updates.length * 3 }),
    fc.shuffledSubarray(updates),
  ),
);

describe('the merge of step updates', () => {
  test('any order gives the same state', () => {
    fc.assert(fc.property(stepUpdates().chain((u) => fc.tuple(fc.constant(u), fc.shuffledSubarray(u, { minLength: u.length }))), ([updates, other]) => {
      expect(fold(other)).toEqual(fold(updates));
    }), RUNS);
  });

  test('duplicates change nothing', () => {
    fc.assert(fc.property(shuffled, ([updates, many]) => {
      expect(fold(many)).toEqual(fold(updates));
    }), RUNS);
  });

  test('a subset first and the rest later gives the same state', () => {
    fc.assert(fc.property(shuffled, ([updates, , subset]) => {
      const rest = updates.filter((update) => !subset.includes(update));
      expect(foldUpdates(fold(subset), rest)).toEqual(fold(updates));
    }), RUNS);
  });

  test('folding twice changes nothing', () => {
    fc.assert(fc.property(stepUpdates(), (updates) => {
      const once = fold(updates);
      expect(foldUpdates(new Map(once), updates)).toEqual(once);
      expect(fold(once.values())).toEqual(once);
    }), RUNS);
  });

  test('a snapshot taken anywhere plus all updates equals the fold of all updates', () => {
    fc.assert(fc.property(stepUpdates(), fc.nat(25), (updates, at) => {
      const snapshot = fold(updates.slice(0, at));
      expect(foldUpdates(new Map(snapshot), updates)).toEqual(fold(updates));
      expect(foldUpdates(new Map(snapshot), updates.slice(at))).toEqual(fold(updates));
    }), RUNS);
  });

  test('a higher generation wins, whatever came when', () => {
    fc.assert(fc.property(stepUpdates(), (updates) => {
      for (const [id, { state }] of fold(updates)) {
        expect(state.generation).toBe(Math.max(...updates.filter((u) => u.step_id === id).map((u) => u.state.generation)));
      }
    }), RUNS);
  });

  test('within a generation a terminal state is never replaced by one that is not', () => {
    fc.assert(fc.property(shuffled, ([updates, many]) => {
      for (const [id, { state }] of fold(many)) {
        const rivals = updates.filter((u) => u.step_id === id && u.state.generation === state.generation);
        if (rivals.some((u) => isTerminal(u.state))) expect(isTerminal(state)).toBe(true);
      }
    }), RUNS);
  });

  test('within that, the higher seq wins', () => {
    fc.assert(fc.property(shuffled, ([updates, many]) => {
      for (const [id, winner] of fold(many)) {
        const rivals = updates.filter((u) => u.step_id === id && u.state.generation === winner.state.generation && isTerminal(u.state) === isTerminal(winner.state));
        expect(winner.seq).toBe(Math.max(...rivals.map((u) => u.seq)));
      }
    }), RUNS);
  });

  test('success and failure of one step never coexist: one step has one state', () => {
    fc.assert(fc.property(shuffled, ([updates, many]) => {
      const merged = fold(many);
      expect([...merged.keys()].sort()).toEqual([...new Set(updates.map((u) => u.step_id))].sort());
      for (const { state } of merged.values()) expect('output' in state && 'error' in state).toBe(false);
    }), RUNS);
  });

  test('of two updates of a step at most one replaces the other, and exactly one when they differ', () => {
    fc.assert(fc.property(stepUpdates(), (updates) => {
      for (const a of updates) for (const b of updates) expect(Number(supersedes(a, b)) + Number(supersedes(b, a))).toBe(a === b ? 0 : 1);
    }), { numRuns: 100 });
  });

  test('wall time decides nothing', () => {
    fc.assert(fc.property(stepUpdates(), (updates) => {
      const late = updates.map((u) => ({ ...u, state: { ...u.state, started_at: 1e15 - u.seq, ...('ended_at' in u.state ? { ended_at: 1e15 - u.seq } : {}) } }) as StepUpdate);
      expect([...fold(late)].map(([id, u]) => [id, u.seq])).toEqual([...fold(updates)].map(([id, u]) => [id, u.seq]));
    }), RUNS);
  });
});
