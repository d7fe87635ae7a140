import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PENDING, type StepState } from '../../src/core/step-state.js';
import { FrontierIndex } from '../../src/graph/frontier-index.js';
import { frontierOf } from '../../src/graph/frontier.js';
import { shapeOf, type ShapedStep } from '../../src/graph/plan-shape.js';

const step = (id: string, needs: string[] = [], rest: Partial<ShapedStep> = {}): ShapedStep => ({ id, needs, after: 'success', finally: false, ...rest });
const at = (status: StepState['status'], rest: object = {}): StepState => ({ ...PENDING, status, ended_at: 0, ...rest }) as StepState;
const failed = (tolerated = false) => at('failed', { tolerated, error: { class: 'transient', code: 'exit', message: '' } });

function ask(steps: ShapedStep[], states: { [id: string]: StepState }, options: { scheduling?: 'layered' | 'eager'; on_failure?: 'stop' | 'continue' } = {}) {
  const shape = shapeOf({ scheduling: options.scheduling ?? 'layered', on_failure: options.on_failure ?? 'stop', steps });
  return frontierOf(shape, (id) => states[id] ?? PENDING);
}

describe('what may start', () => {
  test('with layered scheduling a layer waits for the whole layer before it', () => {
    const steps = [step('a'), step('b'), step('c', ['a'])];
    expect(ask(steps, { a: at('completed'), b: at('running') }).start).toEqual([]);
    expect(ask(steps, { a: at('completed'), b: at('running') }, { scheduling: 'eager' }).start).toEqual(['c']);
    expect(ask(steps, { a: at('completed'), b: at('completed') }).start).toEqual(['c']);
  });

  test('a failure stops unrelated steps by default, and the skip names it', () => {
    const steps = [step('bad'), step('good'), step('tail', ['good'])];
    const states = { bad: failed(), good: at('completed') };
    expect(ask(steps, states)).toMatchObject({ start: [], skip: [{ id: 'tail', reason: { kind: 'stopped', by: 'bad' } }] });
    expect(ask(steps, states, { on_failure: 'continue' }).start).toEqual(['tail']);
  });

  test('what needs a failed step is skipped because of it, all the way down', () => {
    const steps = [step('test'), step('gate', ['test']), step('deploy', ['gate'])];
    expect(ask(steps, { test: failed() }).skip).toEqual([{ id: 'gate', reason: { kind: 'upstream_failed', by: 'test' } }]);
    const gate = at('skipped', { reason: { kind: 'upstream_failed', by: 'test' } });
    expect(ask(steps, { test: failed(), gate }).skip).toEqual([{ id: 'deploy', reason: { kind: 'upstream_failed', by: 'test' } }]);
  });

  test('a handler after failure runs when its need failed, though the session stopped', () => {
    const steps = [step('a'), step('handler', ['a'], { after: 'failure' }), step('always', ['a'], { after: 'any' })];
    expect(ask(steps, { a: failed() }).start).toEqual(['handler', 'always']);
    expect(ask(steps, { a: at('completed') })).toMatchObject({ start: ['always'], skip: [{ id: 'handler', reason: { kind: 'gate' } }] });
  });

  test('a handler of a step that the stop kept from starting does not run', () => {
    const steps = [step('bad'), step('deploy'), step('undo', ['deploy'], { after: 'failure' })];
    const deploy = at('skipped', { reason: { kind: 'stopped', by: 'bad' } });
    expect(ask(steps, { bad: failed(), deploy }).skip).toEqual([{ id: 'undo', reason: { kind: 'gate', after: 'failure' } }]);
  });

  test('a tolerated failure opens the gate of what needs it and stops nothing', () => {
    expect(ask([step('a'), step('b', ['a']), step('c')], { a: failed(true) }).start).toEqual(['c']);
    expect(ask([step('a'), step('b', ['a'])], { a: failed(true) }).start).toEqual(['b']);
  });

  test('skipped on purpose passes on, unless the step runs after any ending', () => {
    const skipped = at('skipped', { reason: { kind: 'condition' } });
    const steps = [step('a'), step('b', ['a']), step('c', ['a'], { after: 'any' })];
    expect(ask(steps, { a: skipped })).toMatchObject({ start: ['c'], skip: [{ id: 'b', reason: { kind: 'upstream_skipped', by: 'a' } }] });
  });

  test('finally steps start once all others ended, also after a failure', () => {
    const steps = [step('a'), step('f', [], { finally: true }), step('g', ['f'], { finally: true })];
    expect(ask(steps, {}).start).toEqual(['a']);
    expect(ask(steps, { a: failed() })).toMatchObject({ phase: 'finally', start: ['f'] });
    expect(ask(steps, { a: failed(), f: at('completed') }).start).toEqual(['g']);
    expect(ask(steps, { a: failed(), f: at('completed'), g: at('completed') }).phase).toBe('ended');
  });
});

describe('the index', () => {
  const dag = fc.integer({ min: 1, max: 14 }).chain((n) =>
    fc.tuple(
      ...Array.from({ length: n }, (_, i) =>
        fc.record({
          needs: fc.uniqueArray(fc.integer({ min: 0, max: Math.max(0, i - 1) }), { maxLength: i === 0 ? 0 : 3 }),
          after: fc.constantFrom('success' as const, 'success' as const, 'failure' as const, 'any' as const),
        }),
      ),
    ),
  );

  test('gives the answers of the pure rule at every stage of any run', () => {
    fc.assert(
      fc.property(
        dag,
        fc.integer({ min: 0, max: 4 }),
        fc.constantFrom('layered' as const, 'eager' as const),
        fc.constantFrom('stop' as const, 'continue' as const),
        fc.infiniteStream(fc.integer({ min: 0, max: 99 })),
        (specs, tail, scheduling, onFailure, dice) => {
          const main = specs.map((spec, i) => step(`s${i}`, spec.needs.filter((n) => n < i).map((n) => `s${n}`), { after: spec.after }));
          const last = Array.from({ length: tail }, (_, i) => step(`f${i}`, i % 2 === 1 ? [`f${i - 1}`] : [], { finally: true }));
          // File order is not dependency order: the rule must not care.
          const shape = shapeOf({ scheduling, on_failure: onFailure, steps: [...main.reverse(), ...last] });
          const states = new Map<string, StepState>();
          const stateOf = (id: string) => states.get(id) ?? PENDING;
          const index = new FrontierIndex(shape, stateOf);
          const roll = () => dice.next().value as number;
          const running: string[] = [];
          for (let turn = 0; turn < 500; turn += 1) {
            const want = frontierOf(shape, stateOf);
            const got = index.ask();
            const sorted = (ids: string[]) => [...ids].sort();
            expect(got.phase).toBe(want.phase);
            expect(sorted(got.skip.map((s) => JSON.stringify(s)))).toEqual(sorted(want.skip.map((s) => JSON.stringify(s))));
            if (want.phase === 'ended') {
              expect(running).toEqual([]);
              return;
            }
            if (got.skip.length > 0) {
              // What was handed out beside a skip starts; the rule sees it as running from then on.
              expect(sorted(got.start)).toEqual(sorted(want.start));
              for (const { id, reason } of got.skip) states.set(id, at('skipped', { reason }));
              for (const { id } of got.skip) index.changed(id);
            } else expect(got.start).toEqual(want.start);
            for (const id of got.start) {
              states.set(id, at('running'));
              index.changed(id);
              running.push(id);
            }
            if (running.length > 0 && (got.start.length === 0 || roll() > 50)) {
              const [id] = running.splice(roll() % running.length, 1) as [string];
              const ending = roll();
              states.set(id, ending < 55 ? at('completed') : ending < 70 ? failed(true) : ending < 85 ? failed() : at('skipped', { reason: { kind: 'condition' } }));
              index.changed(id);
            }
          }
          expect.unreachable('the run did not end');
        },
      ),
      { numRuns: 400 },
    );
  });

  test('drives a chain of 20,000 and a fan of 50,000 without looking at the whole plan each time', () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => step(`s${i}`, i === 0 ? [] : [`s${i - 1}`]));
    const fan = Array.from({ length: 50_000 }, (_, i) => step(`s${i}`));
    for (const steps of [chain, fan]) {
      const states = new Map<string, StepState>();
      const index = new FrontierIndex(shapeOf({ scheduling: 'layered', on_failure: 'stop', steps }), (id) => states.get(id) ?? PENDING);
      let done = 0;
      while (index.phase !== 'ended') {
        for (const id of index.ask(16).start) {
          states.set(id, at('completed'));
          index.changed(id);
          done += 1;
        }
      }
      expect(done).toBe(steps.length);
    }
  });
});
