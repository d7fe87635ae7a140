// Cases that broke other tools, as far as loading a plan shows them.
import { describe, expect, test } from 'vitest';
import { loadPlan } from '../../src/plan/load.js';
import type { Plan } from '../../src/plan/plan.js';
import { parsePlanJson, planJson } from '../../src/plan/plan-json.js';

async function planOf(source: string): Promise<Plan> {
  const result = await loadPlan({ source });
  if (!result.ok) throw new Error(result.problems.map(({ message, line }) => `${line}: ${message}`).join('\n'));
  return result.plan;
}

async function codesOf(source: string): Promise<Array<[string, number]>> {
  const result = await loadPlan({ source });
  return result.ok ? [] : result.problems.map(({ code, line }) => [code, line]);
}

test('B01: the order of the list has no meaning', async () => {
  const plan = await planOf('plan: 1\nname: order\nsteps:\n  d: { needs: [b, c], run: d }\n  b: { needs: [a], run: b }\n  c: { needs: [a], run: c }\n  a: { run: a }\n');
  expect(plan.steps.map(({ id }) => id)).toEqual(['d', 'b', 'c', 'a']);
});

describe('B03: two steps with one id', () => {
  test('both lines are named', async () => {
    const result = await loadPlan({ source: 'plan: 1\nname: twins\nsteps:\n  build: { run: "echo one" }\n  build: { run: "echo two" }\n  ship: { needs: [build], run: x }\n' });
    expect(result).toMatchObject({ ok: false, problems: [{ code: 'duplicate_id', line: 5, message: 'the step id "build" is used twice; first in line 4' }] });
  });

  test('ids in two spellings of one letter are refused', async () => {
    expect(await codesOf('plan: 1\nname: nfc\nsteps:\n  "caf\u00e9": { run: x }\n  "cafe\u0301": { run: x }\n')).toEqual([['bad_id', 4], ['bad_id', 5], ['duplicate_id', 5]]);
  });
});

describe('B07: text keeps its spelling', () => {
  const source = [
    'plan: 1',
    'name: scalars',
    'params: { v: { type: string, enum: [3.10, 3.9], default: 3.10 } }',
    'steps:',
    '  a:',
    '    env: { V: 3.10, W: 3.0, C: NO, SHA: 1234e56, O: 0123, H: 0x1F, T: true, N: "null", E: "" }',
    '    run: [printf, 3.10, 1e3, no, ~, null]',
    '  b: { http: { url: "https://u", headers: { X-Version: 1.0 }, query: { page: 007 }, expect_status: [200, 2xx] } }',
    '  c: { run: "cat", stdin: 1.10 }',
  ].join('\n');

  test('at every place where text is meant, also after the round trip through the store', async () => {
    for (const plan of [await planOf(source), parsePlanJson(planJson(await planOf(source)))]) {
      const [a, b, c] = plan.steps;
      expect(a?.env).toEqual({ V: '3.10', W: '3.0', C: 'NO', SHA: '1234e56', O: '0123', H: '0x1F', T: 'true', N: 'null', E: '' });
      expect(a?.action).toEqual({ kind: 'run', argv: ['printf', '3.10', '1e3', 'no', '~', 'null'] });
      expect(b?.action).toMatchObject({ headers: { 'X-Version': '1.0' }, query: { page: '007' }, expect_status: ['200', '2xx'] });
      expect(c?.stdin).toBe('1.10');
      expect(plan.params['v']).toEqual({ type: 'string', enum: ['3.10', '3.9'], default: '3.10' });
    }
  });

  test('ids that are numbers are refused as ids, never as duplicates', async () => {
    expect(await codesOf('plan: 1\nname: ids\nsteps:\n  1e3: { run: x }\n  1000: { run: y }\n')).toEqual([['bad_id', 4], ['bad_id', 5]]);
  });

  test('where any JSON is meant, a number that would lose its spelling is refused', async () => {
    expect(await codesOf('plan: 1\nname: n\nsteps:\n  a: { set: { v: 3.10 } }\n  b: { http: { url: "https://u", json: { v: 1e3 } } }\n  c: { call: { function: f, args: [0123] } }\n  d: { set: { ok: [1, 2.5, -3, true, null, "3.10"] } }\n')).toEqual([
      ['ambiguous_number', 4],
      ['ambiguous_number', 5],
      ['ambiguous_number', 6],
    ]);
  });
});

test('B09: a repeated key and a second document are refused at the second', async () => {
  expect(await codesOf('plan: 1\nname: dup\nsteps:\n  a:\n    run: "echo old >> fx"\n    run: "echo new >> fx"\n')).toEqual([['duplicate_key', 6]]);
  expect(await codesOf('plan: 1\nname: one\nsteps: { a: { run: x } }\n---\nplan: 1\nname: two\nsteps: { b: { run: y } }\n')).toEqual([['second_document', 4]]);
});

describe('B11: names that live on Object.prototype', () => {
  test('toString is an ordinary id; hasOwnProperty is an unknown step', async () => {
    const head = 'plan: 1\nname: protos\nsteps:\n  toString: { run: x }\n  constructor: { run: x }\n';
    const result = await loadPlan({ source: `${head}  b: { needs: [toString, hasOwnProperty], run: y }\n` });
    expect(result).toMatchObject({ ok: false, problems: [{ code: 'unknown_step', path: 'steps.b.needs[1]' }] });
    const plan = await planOf(`${head}  b: { needs: [toString, constructor], run: y, env: { valueOf: x } }\n`);
    expect(plan.steps[2]?.needs).toEqual(['toString', 'constructor']);
    expect(plan.steps[2]?.env['toString']).toBeUndefined();
    expect(plan.steps[0]?.env['valueOf']).toBeUndefined();
    expect(parsePlanJson(planJson(plan)).steps[0]?.env['toString']).toBeUndefined();
  });

  test('unknown params, outputs and variables of such names are unknown', async () => {
    expect(await codesOf('plan: 1\nname: p\nsteps:\n  a: { run: x, stdin: "${{ params.constructor }}" }\n  b: { run: x, stdin: "${{ steps.a.outputs.toString }}" }\n')).toEqual([['unknown_param', 4], ['unknown_output', 5]]);
  });

  test('__proto__ is refused as a key, also when an alias or a merge brings it', async () => {
    expect(await codesOf('plan: 1\nname: p\nsteps:\n  b: { run: x, env: { __proto__: { x: "1" } } }\n')).toEqual([['reserved_key', 4]]);
    expect(await codesOf('plan: 1\nname: p\nx-e: &e { __proto__: x }\nsteps:\n  b: { run: x, env: { <<: *e } }\n')).toEqual([['reserved_key', 3]]);
    const definition = JSON.parse('{"plan":1,"name":"p","steps":{"b":{"run":"x","env":{"__proto__":"x"}}}}') as object;
    expect(await loadPlan({ definition })).toMatchObject({ ok: false, problems: [{ code: 'reserved_key' }] });
  });
});

test('B12: the output of a step cannot become shell code of the next', async () => {
  expect(await codesOf('plan: 1\nname: inject\nsteps:\n  a: { run: "echo x", stdout: text }\n  b: { needs: [a], run: "echo got ${{ steps.a.result }} >> fx" }\n')).toEqual([['interpolation_in_script', 5]]);
});

test('B66: every id that could become a path is refused', async () => {
  expect(await codesOf('plan: 1\nname: paths\nsteps:\n  "../../escape": { run: x }\n  "a/b": { run: x }\n  "a:b": { run: x }\n  "CON": { run: x }\n')).toEqual([['bad_id', 4], ['bad_id', 5], ['bad_id', 6], ['bad_id', 7]]);
});

describe('earlier engines of our own', () => {
  test('D16: an unknown dependency is an error, not dropped', async () => {
    expect(await codesOf('plan: 1\nname: d\nsteps:\n  test: { run: x }\n  deploy: { run: y, needs: [tset] }\n')).toEqual([['unknown_step', 5]]);
  });

  test('D17: duplicate ids are told as such, not as a cycle', async () => {
    expect(await codesOf('plan: 1\nname: d\nsteps:\n  a: { run: x }\n  b: { run: y, needs: [a] }\n  a: { run: z, needs: [b] }\n')).toEqual([['duplicate_id', 6]]);
  });

  test('D18: a reference without needs makes the edge', async () => {
    const plan = await planOf('plan: 1\nname: d\nsteps:\n  b: { run: y, needs: [c], stdin: "${{ steps.a.result }}", if: steps.d.status == "completed" }\n  a: { run: x, stdout: text }\n  c: { run: x }\n  d: { run: x }\n');
    expect(plan.steps[0]).toMatchObject({ needs: ['c', 'd', 'a'], inferred_needs: ['d', 'a'] });
  });
});
