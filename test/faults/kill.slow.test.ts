// What a SIGKILL of the plan process costs: counted in files that the steps write.
import { describe, expect, test } from 'vitest';
import { alive, PlanFolder, processesWith } from '../support/plan-command.js';

const mark = (id: string) => `echo ${id} >> fx`;

/** A layer of two quick steps and one that hangs until a file is there, then a layer behind it. */
const layerPlan = (interval: string) => `
plan: 1
name: layers
checkpoint_interval: ${interval}
steps:
  first: { run: "${mark('first')}" }
  quick1: { needs: [first], run: "${mark('quick1')}" }
  quick2: { needs: [first], run: "${mark('quick2')}" }
  slow: { needs: [first], run: "${mark('slow')}; test -e go || sleep 30600" }
  last: { needs: [quick1, quick2, slow], run: "${mark('last')}" }
`;

async function killInsideLayer(interval: string): Promise<{ folder: PlanFolder; before: string[]; after: string[] }> {
  const folder = new PlanFolder(layerPlan(interval));
  const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
  await folder.until('the layer to be under way', () => ['quick1', 'quick2', 'slow'].every((id) => folder.lines('fx').includes(id)));
  // The quick ones have written their line; give their end time to be recorded.
  await new Promise((done) => setTimeout(done, 500));
  child.kill('SIGKILL');
  await ended;
  const before = folder.lines('fx');
  folder.write('go', '');
  const resumed = await folder.plan(['resume', 'S']);
  expect(resumed.code, resumed.stderr).toBe(0);
  return { folder, before, after: folder.lines('fx').slice(before.length) };
}

describe('SIGKILL inside a layer', () => {
  test('per_step: only the step that had not ended runs again', async () => {
    const { after, folder } = await killInsideLayer('per_step');
    expect(after).toEqual(['slow', 'last']);
    expect((await folder.plan(['audit', 'S'])).code).toBe(0);
    expect(processesWith('sleep 30600')).toEqual([]);
  });

  test('per_layer: the unsaved steps of the layer run again, the saved layer does not', async () => {
    const { after, folder } = await killInsideLayer('per_layer');
    expect(after.slice(0, 3).sort()).toEqual(['quick1', 'quick2', 'slow']);
    expect(after.slice(3)).toEqual(['last']);
    expect((await folder.plan(['audit', 'S'])).code).toBe(0);
  });
});

describe('SIGKILL and the counters', () => {
  test('during a retry wait: the count goes on, three tries in all', async () => {
    const folder = new PlanFolder('plan: 1\nname: count\nsteps:\n  r: { retry: { max_attempts: 3, delay: 2s, backoff: constant }, run: "echo try $PLAN_ATTEMPT >> fx; exit 1" }\n');
    const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('fx');
    await new Promise((done) => setTimeout(done, 700));
    child.kill('SIGKILL');
    await ended;
    const resumed = await folder.plan(['resume', 'S']);
    expect(resumed.code).toBe(1);
    expect(folder.lines('fx')).toEqual(['try 1', 'try 2', 'try 3']);
  });

  test('inside an attempt: the interruption is charged and is no failure', async () => {
    const folder = new PlanFolder('plan: 1\nname: p\nsteps:\n  r: { retry: { max_attempts: 1 }, run: "echo try >> fx; test -e go || sleep 30601" }\n');
    for (let kills = 0; kills < 2; kills += 1) {
      const { child, ended } = folder.start(kills === 0 ? ['run', 'p.yaml', '--session', 'S'] : ['resume', 'S']);
      await folder.until(`try ${kills + 1}`, () => folder.lines('fx').length === kills + 1);
      child.kill('SIGKILL');
      await ended;
    }
    folder.write('go', '');
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    const shown = await folder.json<{ steps: Array<{ id: string; attempt: number; failures: number; interruptions: number }> }>(['show', 'S']);
    expect(shown.steps[0]).toMatchObject({ attempt: 3, failures: 0, interruptions: 2 });
    expect(processesWith('sleep 30601')).toEqual([]);
  });
});

describe('what the dead driver left running', () => {
  test('is ended before the step runs again, those that left their group too', async () => {
    const folder = new PlanFolder(`
plan: 1
name: orphans
steps:
  a:
    run: |
      test -e go && exit 0
      setsid sleep 30602 &
      (trap '' TERM; sleep 30603) &
      echo $$ > pid
      sleep 30604
`);
    const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('pid');
    await folder.until('all three', () => [30602, 30603, 30604].every((n) => processesWith(`sleep ${n}`).length > 0));
    child.kill('SIGKILL');
    await ended;
    expect(alive(Number(folder.read('pid')))).toBe(true);
    folder.write('go', '');
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    for (const n of [30602, 30603, 30604]) expect(processesWith(`sleep ${n}`), `sleep ${n}`).toEqual([]);
  });
});

describe('two terminals', () => {
  test('three resumes at once: one works, two are told who holds the session, with exit 6', async () => {
    const folder = new PlanFolder('plan: 1\nname: owner\nsteps:\n  a: { run: "echo a >> fx; sleep 3; test -e go" }\n  b: { needs: [a], run: "echo b >> fx" }\n');
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S'])).code).toBe(1);
    folder.write('go', '');
    const all = await Promise.all([1, 2, 3].map(() => folder.plan(['resume', 'S'])));
    expect(all.map((one) => one.code).sort()).toEqual([0, 6, 6]);
    expect(all.find((one) => one.code === 6)?.stderr).toMatch(/driven by process \d+/);
    expect(folder.lines('fx')).toEqual(['a', 'a', 'b']);
  });

  test('cancel from another terminal ends a running session within its grace, and it stays cancelled', async () => {
    const folder = new PlanFolder('plan: 1\nname: queue\nconcurrency: 1\nsteps:\n  a: { run: "touch up; sleep 30605; echo a >> fx" }\n  b: { run: "echo b >> fx" }\n  c: { needs: [a], run: "echo c >> fx" }\n');
    const { ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('up');
    const cancelled = Date.now();
    expect((await folder.plan(['cancel', 'S'])).code).toBe(0);
    expect((await ended).code).toBe(5);
    expect(Date.now() - cancelled).toBeLessThan(8000);
    expect(folder.exists('fx')).toBe(false);
    expect(processesWith('sleep 30605')).toEqual([]);
    const shown = await folder.json<{ status: string; steps: Array<{ status: string }> }>(['show', 'S']);
    expect([shown.status, ...shown.steps.map((step) => step.status)]).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
    expect((await folder.plan(['resume', 'S'])).code).toBe(2);
  });

  test('cancel of a session whose driver was killed ends it, its processes included', async () => {
    const folder = new PlanFolder('plan: 1\nname: dead\nsteps:\n  a: { run: "touch up; sleep 30606" }\n  b: { needs: [a], run: "echo b >> fx" }\n');
    const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('up');
    child.kill('SIGKILL');
    await ended;
    const cancel = await folder.plan(['cancel', 'S']);
    expect(cancel.code, cancel.stderr).toBe(0);
    expect((await folder.json<{ status: string }>(['show', 'S'])).status).toBe('cancelled');
    expect(processesWith('sleep 30606')).toEqual([]);
    expect(folder.exists('fx')).toBe(false);
  });

  test('Ctrl-C ends the children, saves, exits 130, and the session goes on', async () => {
    const folder = new PlanFolder('plan: 1\nname: int\nsteps:\n  a: { run: "echo a >> fx" }\n  b: { needs: [a], run: "echo b >> fx; test -e go || sleep 30607" }\n');
    const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.until('b', () => folder.lines('fx').length === 2);
    child.kill('SIGINT');
    const first = await ended;
    expect(first.code, first.stderr).toBe(130);
    expect(processesWith('sleep 30607')).toEqual([]);
    folder.write('go', '');
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    expect(folder.lines('fx')).toEqual(['a', 'b', 'b']);
  });

  test('a second Ctrl-C does not wait for the grace', async () => {
    const folder = new PlanFolder("plan: 1\nname: int\nsteps:\n  a: { kill_grace: 60s, run: \"trap '' TERM INT; touch up; while true; do sleep 1; done\" }\n");
    const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('up');
    child.kill('SIGINT');
    await new Promise((done) => setTimeout(done, 500));
    child.kill('SIGINT');
    const started = Date.now();
    expect((await ended).code).toBe(130);
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  test('resume from another folder finds the session by --store and runs in the plan folder', async () => {
    const folder = new PlanFolder('plan: 1\nname: far\nsteps:\n  a: { run: "pwd >> fx; test -e go" }\n');
    await folder.plan(['run', 'p.yaml', '--session', 'S']);
    folder.write('go', '');
    const elsewhere = new PlanFolder();
    const resumed = await elsewhere.plan(['resume', 'S', '--store', `${folder.dir}/.plan`]);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(new Set(folder.lines('fx')).size).toBe(1);
    expect(elsewhere.exists('fx')).toBe(false);
  });
});
