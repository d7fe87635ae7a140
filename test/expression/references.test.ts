import { describe, expect, test } from 'vitest';
import { referencesOf, referencesOfTemplate, referencesOfValue } from '../../src/expression/references.js';

/** References as their own text, with `?` behind the guarded ones. */
const read = (text: string) => referencesOf(text).map((r) => text.slice(r.offset, r.offset + r.length) + (r.guarded ? '?' : ''));

describe('references', () => {
  test('are found with their place, member and output', () => {
    expect(referencesOf('steps.a.outputs.x.y + params.n')).toEqual([
      { root: 'steps', name: 'a', member: 'outputs', output: 'x', guarded: false, offset: 0, length: 17 },
      { root: 'params', name: 'n', guarded: false, offset: 22, length: 8 },
    ]);
    expect(referencesOf('steps["a-b"].result.rows[0]')).toEqual([{ root: 'steps', name: 'a-b', member: 'result', guarded: false, offset: 0, length: 19 }]);
    expect(referencesOf('steps.a.status')).toMatchObject([{ name: 'a', member: 'status' }]);
    expect(referencesOf('steps.a.outputs')).toMatchObject([{ name: 'a', member: 'outputs' }]);
    expect(referencesOf('session.id + plan.name + env.X + secrets.Y').map((r) => [r.root, r.name])).toEqual([['session', 'id'], ['plan', 'name'], ['env', 'X'], ['secrets', 'Y']]);
  });

  test('a name that is computed is no name', () => {
    expect(referencesOf('steps[params.id].outputs.x')).toMatchObject([{ root: 'steps' }, { root: 'params', name: 'id' }]);
    expect(referencesOf('steps[params.id].outputs.x')[0]).not.toHaveProperty('name');
    expect(referencesOf('steps.a.outputs[params.k]')).toMatchObject([{ name: 'a', member: 'outputs' }, { name: 'k' }]);
    expect(referencesOf('toJson(params)')).toEqual([{ root: 'params', guarded: false, offset: 7, length: 6 }]);
  });

  test('variables of loops are none, even with the name of a root', () => {
    expect(referencesOf('[1].map(steps, steps + 1)')).toEqual([]);
    expect(read('params.l.filter(x, x.ok && x.n > params.n).map(env, env.a)')).toEqual(['params.l', 'params.n']);
    expect(read('env.l.map(env, env.a)')).toEqual(['env.l']);
  });

  test.each([
    ['steps.a.outputs.x', ['steps.a.outputs.x']],
    ['has(steps.a.outputs.x)', ['steps.a.outputs.x?']],
    ['has(steps.a.outputs.x) ? steps.a.outputs.x : 1', ['steps.a.outputs.x?', 'steps.a.outputs.x?']],
    ['has(steps.a.outputs.x) ? 1 : steps.a.outputs.x', ['steps.a.outputs.x?', 'steps.a.outputs.x']],
    ['!has(steps.a.outputs.x) ? 1 : steps.a.outputs.x', ['steps.a.outputs.x?', 'steps.a.outputs.x?']],
    ['has(steps.a.outputs.x) && steps.a.outputs.x > 1', ['steps.a.outputs.x?', 'steps.a.outputs.x?']],
    ['has(steps.a.outputs.x) || steps.a.outputs.x > 1', ['steps.a.outputs.x?', 'steps.a.outputs.x']],
    ['!has(steps.a.outputs.x) || steps.a.outputs.x > 1', ['steps.a.outputs.x?', 'steps.a.outputs.x?']],
    ['params.b && has(steps.a.outputs.x) && steps.a.outputs.x > 1', ['params.b', 'steps.a.outputs.x?', 'steps.a.outputs.x?']],
    ['has(steps.a.outputs.x) && steps.a.outputs.y > 1', ['steps.a.outputs.x?', 'steps.a.outputs.y']],
    ['has(steps.a.outputs.x) && steps.b.outputs.x > 1', ['steps.a.outputs.x?', 'steps.b.outputs.x']],
    ['(has(steps.a.outputs.x) ? 1 : 2) + steps.a.outputs.x', ['steps.a.outputs.x?', 'steps.a.outputs.x']],
    ['has(steps.a.result.rows) ? steps.a.result.rows[0] : 1', ['steps.a.result.rows?', 'steps.a.result?']],
    ['has(steps.a.result.rows[0].id) ? steps.a.result.rows[0].id : 1', ['steps.a.result?', 'steps.a.result?']],
    ['has(steps.a.outputs.xx) ? steps.a.outputs.x : 1', ['steps.a.outputs.xx?', 'steps.a.outputs.x']],
    ['steps.a.status == "completed" ? steps.a.outputs.x : steps.a.result', ['steps.a.status', 'steps.a.outputs.x?', 'steps.a.result']],
    ['"completed" != steps.a.status || steps.a.result == 1', ['steps.a.status', 'steps.a.result?']],
    ['steps.a.status == "failed" ? steps.a.outputs.x : 1', ['steps.a.status', 'steps.a.outputs.x']],
    ['default(steps.a.outputs.x, steps.b.outputs.y)', ['steps.a.outputs.x?', 'steps.b.outputs.y']],
    ['steps.a.outputs.?x.orValue(1)', ['steps.a.outputs.?x?']],
    ['steps.a.result.?x.orValue(params.n)', ['steps.a.result?', 'params.n']],
    ['has(env.X) ? env.X : "none"', ['env.X?', 'env.X?']],
  ])('are guarded where their absence does no harm: %s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  test('of templates and JSON values have offsets into their text', () => {
    expect(referencesOfTemplate('a ${{ params.n }} b ${{ env.X }} $${{ params.no }}').map((r) => [r.name, r.offset])).toEqual([['n', 6], ['X', 24]]);
    expect(referencesOfValue({ a: ['${{ params.n }}', 1, null], b: { c: 'x ${{ steps.s.result }}' } }).map((r) => [r.root, r.name, r.offset])).toEqual([['params', 'n', 4], ['steps', 's', 6]]);
  });
});
