import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildGraph, findCycle, findCycles, layersOf } from '../../src/graph/graph.js';

const step = (id: string, ...needs: string[]) => ({ id, needs });

describe('layers', () => {
  test('a step is one level below the deepest of its needs, whatever the order of the list', () => {
    const graph = buildGraph([step('d', 'b', 'c'), step('b', 'a'), step('c', 'b'), step('a')]);
    expect(layersOf(graph).layers).toEqual([['a'], ['b'], ['c'], ['d']]);
    expect(layersOf(graph).levels.get('d')).toBe(3);
  });

  test('ids that live on Object.prototype are ordinary ids', () => {
    const graph = buildGraph([step('toString'), step('constructor', 'toString'), step('__proto__', 'constructor')]);
    expect(layersOf(graph).layers).toEqual([['toString'], ['constructor'], ['__proto__']]);
    expect(graph.dependentsOf('toString')).toEqual(['constructor']);
  });

  test('a need outside the graph is refused, not dropped', () => {
    expect(() => buildGraph([step('deploy', 'tset')])).toThrow('step "deploy" needs "tset"');
  });

  test('layers of random graphs equal the longest path, computed by relaxation', () => {
    fc.assert(
      fc.property(randomDag(), (steps) => {
        const level = new Map(steps.map(({ id }) => [id, 0]));
        for (let round = 0; round < steps.length; round += 1) {
          for (const { id, needs } of steps) for (const need of needs) level.set(id, Math.max(level.get(id) as number, (level.get(need) as number) + 1));
        }
        const { levels, layers } = layersOf(buildGraph(steps));
        expect(new Map([...levels].sort())).toEqual(new Map([...level].sort()));
        expect(layers.flat().sort()).toEqual(steps.map(({ id }) => id).sort());
        expect(findCycle(buildGraph(steps))).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  test('a chain of 20,000 and a fan of 50,000 that joins again are laid out in seconds, without recursion', () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => step(`s${i}`, ...(i > 0 ? [`s${i - 1}`] : [])));
    const fan = [step('root'), ...Array.from({ length: 50_000 }, (_, i) => step(`f${i}`, 'root'))];
    const join = step('join', ...fan.slice(1).map(({ id }) => id));
    expect(layersOf(timed(() => buildGraph(chain))).layers).toHaveLength(20_000);
    expect(timed(() => layersOf(buildGraph([...fan, join]))).layers).toHaveLength(3);
  });
});

describe('cycles', () => {
  test('a cycle is a path along needs that begins at its first step', () => {
    expect(findCycle(buildGraph([step('x'), step('a', 'x', 'c'), step('b', 'a'), step('c', 'b'), step('d', 'c')]))).toEqual(['a', 'c', 'b']);
  });

  test('the shorter of two cycles through the same steps is shown', () => {
    expect(findCycle(buildGraph([step('a', 'b', 'd'), step('b', 'c'), step('c', 'd'), step('d', 'a')]))).toEqual(['a', 'd']);
  });

  test('cycles that do not touch each other are all found', () => {
    const steps = [step('a', 'b'), step('b', 'a'), step('m', 'a'), step('x', 'y'), step('y', 'z'), step('z', 'x'), step('s', 's')];
    expect(findCycles(buildGraph(steps))).toEqual([['a', 'b'], ['x', 'y', 'z'], ['s']]);
  });

  test('one cycle of 20,000 steps is found without recursion', () => {
    const ring = Array.from({ length: 20_000 }, (_, i) => step(`s${i}`, `s${(i + 1) % 20_000}`));
    expect(timed(() => findCycle(buildGraph(ring)))).toHaveLength(20_000);
  });

  test('in random graphs a cycle is found exactly when one is there, and each of its links is a need', () => {
    fc.assert(
      fc.property(randomGraph(), (steps) => {
        const graph = buildGraph(steps);
        const cycle = findCycle(graph);
        expect(cycle === undefined).toBe(layersOf(graph).levels.size === steps.length);
        cycle?.forEach((id, i) => expect(graph.needsOf(id)).toContain(cycle[(i + 1) % cycle.length]));
      }),
      { numRuns: 100 },
    );
  });
});

function timed<T>(work: () => T): T {
  const start = process.cpuUsage().user;
  const result = work();
  expect((process.cpuUsage().user - start) / 1000).toBeLessThan(8000);
  return result;
}

function randomGraph() {
  return fc.integer({ min: 1, max: 12 }).chain((count) =>
    fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 20 }).map((edges) =>
      Array.from({ length: count }, (_, i) => step(`n${i}`, ...new Set(edges.filter(([from]) => from === i).map(([, to]) => `n${to}`)))),
    ),
  );
}

function randomDag() {
  return randomGraph().map((steps) => steps.map(({ id, needs }) => ({ id, needs: needs.filter((need) => Number(need.slice(1)) < Number(id.slice(1))) })));
}
