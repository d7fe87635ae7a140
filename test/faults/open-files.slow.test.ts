// Too few files: steps wait for each other, and none fails for it.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PlanFolder } from '../support/plan-command.js';

const ROOT = resolve(import.meta.dirname, '../..');
const entry = (file: string) => JSON.stringify(pathToFileURL(join(ROOT, 'dist', file)).href);

function limited(folder: PlanFolder, files: number, args: string[]) {
  return spawnSync('bash', ['-c', 'ulimit -n "$0" && exec "$@"', String(files), process.execPath, ...args], { cwd: folder.dir, encoding: 'utf8' });
}

const wide = (count: number, sleep: number) =>
  `plan: 1\nname: wide\nconcurrency: 500\nsteps:\n${Array.from({ length: count }, (_, i) => `  s${i}: { ${i % 2 === 0 ? 'stdout: text, stdin: x, ' : ''}run: "echo + >> fx; sleep ${sleep}; echo - >> fx" }`).join('\n')}\n`;

/** How many steps ran at once, and how many in all. */
function ran(folder: PlanFolder): { most: number; all: number } {
  let [now, most, all] = [0, 0, 0];
  for (const line of folder.lines('fx')) {
    now += line === '+' ? 1 : -1;
    most = Math.max(most, now);
    all += line === '+' ? 1 : 0;
  }
  return { most, all };
}

describe('ulimit -n', () => {
  test.each([[256, 60, 21, 1.5], [100, 8, 1, 0.1]])('%i, and a plan of %i steps that would all run at once: %i do', async (files, count, atOnce, sleep) => {
    const folder = new PlanFolder(wide(count, sleep));
    const run = limited(folder, files, [join(ROOT, 'bin/plan.js'), 'run', 'p.yaml', '--session', 'S']);
    expect(run.status, run.stderr).toBe(0);
    expect(ran(folder).all).toBe(count);
    expect(ran(folder).most).toBeLessThanOrEqual(atOnce);
    expect(run.stderr + run.stdout).toContain(`concurrency_limited: ${atOnce} steps at once instead of 500, since this process may open ${files} files; to allow more: ulimit -n`);
    const events = (await folder.events('S')).filter(({ type }) => type === 'concurrency_limited' || type === 'step_failed' || type === 'step_retry_scheduled');
    expect(events).toMatchObject([{ type: 'concurrency_limited', data: { concurrency: 500, at_once: atOnce, open_files: files } }]);
  });

  test('says nothing where it does not matter', () => {
    const folder = new PlanFolder(wide(20, 0));
    const run = limited(folder, 256, [join(ROOT, 'bin/plan.js'), 'run', 'p.yaml']);
    expect([run.status, run.stdout.includes('concurrency_limited')]).toEqual([0, false]);
  });
});

test('several sessions of one process share its files', () => {
  const folder = new PlanFolder();
  folder.write('host.mjs', `
    import { loadPlan, PlanExecutor } from ${entry('index.js')};
    import { openSqliteStore } from ${entry('store/sqlite/index.js')};
    const store = await openSqliteStore({ path: 'plan.db' });
    const plan = await loadPlan({ source: ${JSON.stringify(wide(20, 1))}, file: 'p.yaml', base_dir: process.cwd() });
    const executor = new PlanExecutor({ store });
    const results = await Promise.all(['a', 'b', 'c'].map((sessionId) => executor.run(plan, { sessionId }).result));
    await store.close();
    console.log(JSON.stringify({ statuses: results.map(({ status }) => status) }));
  `);
  const run = limited(folder, 256, ['host.mjs']);
  expect(run.status, run.stderr).toBe(0);
  const said = JSON.parse(run.stdout) as { statuses: string[] };
  expect(said.statuses).toEqual(['completed', 'completed', 'completed']);
  expect(ran(folder).all).toBe(60);
  // One of each session always runs.
  expect(ran(folder).most).toBeLessThanOrEqual(21 + 2);
});

test('a host that has all files open itself: a step waits until some are free', () => {
  const folder = new PlanFolder();
  folder.write('host.mjs', `
    import { loadPlan, PlanExecutor } from ${entry('index.js')};
    import { openSqliteStore } from ${entry('store/sqlite/index.js')};
    import { closeSync, openSync } from 'node:fs';
    const store = await openSqliteStore({ path: 'plan.db' });
    const plan = await loadPlan({ source: ${JSON.stringify(wide(4, 0))}, file: 'p.yaml', base_dir: process.cwd() });
    const executor = new PlanExecutor({ store });
    await executor.run(plan, { sessionId: 'warm' }).result;
    const held = [];
    const handle = executor.run(plan, { sessionId: 'S' });
    try { for (;;) held.push(openSync('/dev/null', 'r')); } catch (error) { if (error.code !== 'EMFILE') throw error; }
    setTimeout(() => { for (const file of held) closeSync(file); }, 1200);
    const result = await handle.result;
    const steps = [...(await store.loadSteps('S')).values()].map(({ state }) => state);
    await store.close();
    console.log(JSON.stringify({ status: result.status, error: result.error, attempts: steps.map(({ attempt }) => attempt), truncated: steps.map(({ log }) => log?.truncated) }));
  `);
  const run = limited(folder, 200, ['host.mjs']);
  expect(run.status, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout)).toEqual({ status: 'completed', attempts: [1, 1, 1, 1], truncated: [false, false, false, false] });
});
