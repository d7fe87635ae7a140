// What `call` names must be there before anything runs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadPlan } from '../../src/plan/load.js';
import { validate } from '../../src/cli/commands/validate.js';
import { fakeWorld } from '../cli/support.js';
import { tempDir } from '../support/sessions.js';

const planOf = (name: string) => `plan: 1\nname: t\nsteps:\n  a: { call: { function: "${name}" } }\n`;

async function told(source: string, base_dir: string, functions?: string[]) {
  const result = await loadPlan({ source, base_dir }, functions === undefined ? {} : { functions });
  return result.ok ? [] : result.problems.map(({ code, line, column, hint }) => ({ code, at: `${line}:${column}`, hint }));
}

describe('a registered function', () => {
  test('is checked where it is known which there are', async () => {
    const dir = tempDir();
    expect(await told(planOf('fetch_user'), dir)).toEqual([]);
    expect(await told(planOf('fetch_user'), dir, ['fetch_user'])).toEqual([]);
    expect(await told(planOf('fetch_usr'), dir, ['fetch_user'])).toEqual([{ code: 'unknown_function', at: '4:26', hint: 'did you mean "fetch_user"?' }]);
    expect((await told(planOf('fetch.mjs'), dir, []))[0]?.hint).toContain('./fetch.mjs#export');
  });

  test('is a problem of plan validate, since the command line has none', async () => {
    const file = join(tempDir(), 'p.yaml');
    writeFileSync(file, planOf('fetch_user'));
    const { context, stdout } = fakeWorld();
    expect(await validate(context, [file], {})).toBe(2);
    expect(stdout.text).toContain(':4:26: error[unknown_function]');
  });

  test('of an object as a plan is checked too', async () => {
    const definition = { plan: 1, name: 't', steps: { a: { call: { function: 'f' } } } };
    expect((await loadPlan({ definition }, { functions: ['f'] })).ok).toBe(true);
    expect(await loadPlan({ definition }, { functions: [] })).toMatchObject({ ok: false, problems: [{ code: 'unknown_function' }] });
  });
});

describe('a function of a module', () => {
  test.each([
    ['export const join = () => 1;', 'join', undefined],
    ['function a() {}\nexport { a as join };', 'join', undefined],
    ['exports.join = () => 1;', 'join', undefined],
    ["export * from './other.mjs';", 'join', undefined],
    ["module.exports = require('./other.cjs');", 'join', undefined],
    ['module.exports = () => 1;', 'default', undefined],
    ['export default () => 1;', 'default', undefined],
    ['export async function join() {}', 'joim', 'did you mean "join"?'],
    ['export const fetchAll = 1;\nexport function other() {}', 'join', 'it exports fetchAll, other'],
    ['export function join() {}', 'default', 'write ./m.mjs#join'],
  ])('%s: %s', async (text, name, hint) => {
    const dir = tempDir();
    writeFileSync(join(dir, 'm.mjs'), text);
    const problems = await told(planOf(`./m.mjs${name === 'default' ? '' : `#${name}`}`), dir, []);
    expect(problems).toEqual(hint === undefined ? [] : [{ code: 'export_not_found', at: '4:26', hint }]);
  });
});
