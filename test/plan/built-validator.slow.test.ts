// The build puts generated code in the place of the schema compiler: both must say the same.
import { expect, test } from 'vitest';
import { loadPlan } from '../../src/plan/load.js';
import { PlanFolder } from '../support/plan-command.js';

const FAULTY = [
  'plan: 1\nname: x\nsteps: {}\n',
  'plan: 2\nname: x\nsteps: { a: { run: x } }\n',
  'plan: 1\nsteps: { a: { run: x, http: { url: u } }, "b c": { wait: {} }, c: { rnu: x } }\n',
  'plan: 1\nname: x\nconcurrency: 0\nscheduling: fast\nsteps: { a: { run: [], timeout: 5, retry: { max_attempts: 1.5, retry_on: [nope] } } }\nparams: { p: { type: text } }\n',
  'plan: 1\nname: x\nsteps: { a: { call: { function: 5, argz: 1 } }, b: { set: { } }, c: { check: { message: m } }, d: { wait: { for: 1s, until: x } } }\n',
  'plan: 1\nname: x\nsteps: { a: { run: "true", env: { "A-B": x, C: [1] }, outputs: { o: strin, p: { optional: yes } } } }\n',
];

test('the built command tells the same problems of a plan as the sources do', async () => {
  const folder = new PlanFolder();
  FAULTY.forEach((text, i) => folder.write(`${i}.yaml`, text));
  const files = FAULTY.map((_, i) => `${i}.yaml`);
  const { stdout } = await folder.plan(['validate', ...files, '--json']);
  const told = (JSON.parse(stdout) as { files: Array<{ problems: unknown[] }> }).files.map(({ problems }) => problems);
  const expected = await Promise.all(FAULTY.map(async (source, i) => {
    const loaded = await loadPlan({ source, file: `${i}.yaml`, base_dir: folder.dir });
    return loaded.ok ? [] : loaded.problems;
  }));
  expect(expected.every((problems) => problems.length > 0)).toBe(true);
  expect(told).toEqual(JSON.parse(JSON.stringify(expected)));
});
