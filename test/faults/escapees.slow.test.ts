// Processes that left the session of their step and carry no mark any more (`setsid env -i`): those that were seen.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PlanFolder, processesWith } from '../support/plan-command.js';

// Seen as a child for a while, with every descriptor closed; and a child of nobody at once, but with the output pipe.
const SEEN = (n: number) => `setsid env -i sleep ${n} > /dev/null 2>&1 < /dev/null & sleep 0.3`;
const HOLDS = (n: number) => `(setsid env -i sleep ${n} &)`;
const plan = (step: string, then: string) => `plan: 1\nname: p\nsteps:\n  a: { run: ${JSON.stringify(`test -e go && exit 0; ${step}`)} }\n  b: { needs: [a], run: ${JSON.stringify(then)} }\n`;
const notes = (folder: PlanFolder) => readdirSync(join(folder.dir, '.plan/logs/S')).filter((name) => name.endsWith('.pid'));

describe.each([['seen as a child', SEEN, 30741], ['that holds the pipe', HOLDS, 30744]] as const)('a process without a mark, %s', (_, escape, n) => {
  test('lives on for later steps, and is ended with the session', async () => {
    const folder = new PlanFolder(plan(escape(n), `pgrep -f 'sleep ${n}$' > seen`));
    const run = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect(run.code, run.stderr).toBe(0);
    expect(processesWith(`sleep ${n}`)).toEqual([]);
    expect(notes(folder)).toEqual([]);
  });

  test('is ended by resume after a SIGKILL, also when its own step had ended', async () => {
    const folder = new PlanFolder(plan(escape(n + 1), 'test -e go && exit 0; touch up; sleep 30799'));
    const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('up');
    child.kill('SIGKILL');
    await ended;
    expect(processesWith(`sleep ${n + 1}`).length).toBe(1);
    folder.write('go', '');
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    expect(processesWith(`sleep ${n + 1}`)).toEqual([]);
    expect(processesWith('sleep 30799')).toEqual([]);
    expect(notes(folder)).toEqual([]);
  });

  test('is ended by the timeout of its step', async () => {
    const folder = new PlanFolder(`plan: 1\nname: p\nsteps:\n  a: { timeout: 1s, run: ${JSON.stringify(`bash -c ${JSON.stringify(escape(n + 2))}; sleep 30`)} }\n`);
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S'])).code).toBe(1);
    expect(processesWith(`sleep ${n + 2}`)).toEqual([]);
  });
});
