// Functions of modules under the binary: whatever a module does to its process, the session and stdout stay whole.
import { describe, expect, test } from 'vitest';
import { alive, PlanFolder } from '../support/plan-command.js';

const plan = (steps: string) => `plan: 1\nname: modules\nsteps:\n${steps}`;
/** Whether each process that a function noted in `pids` still runs. */
const lives = (folder: PlanFolder) => folder.lines('pids').map((pid) => alive(Number(pid)));
const jsonLines = (text: string) => text.trimEnd().split('\n').map((line) => JSON.parse(line) as { type: string; status?: string });

describe('a module under plan run', () => {
  test('that exits with 0 fails its step: never an exit code 0 for an outcome that is not known', async () => {
    const folder = new PlanFolder(plan('  a: { call: { function: "./m.mjs#f" }, retry: { max_attempts: 3, delay: 1ms } }\n  b: { needs: [a], run: "touch after" }\n'));
    folder.write('m.mjs', "import { appendFileSync } from 'node:fs'; export const f = () => { appendFileSync('tries', 'x\\n'); process.exit(0); };");
    const { code, stdout } = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/root cause: step a failed: \.\/m\.mjs#f ended its process .*return a value, or throw PermanentError or TransientError/);
    expect([folder.lines('tries'), folder.exists('after')]).toEqual([['x'], false]);
    folder.write('m.mjs', 'export const f = () => 1;');
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
  });

  test('that leaves a rejection to nobody fails its step in one line, and the session can be resumed', async () => {
    const folder = new PlanFolder(plan('  a: { call: { function: "./m.mjs#f" } }\n'));
    folder.write('m.mjs', "export const f = () => { void Promise.reject(new Error('afloat')); return new Promise((r) => setTimeout(r, 100)); };");
    const { code, stdout, stderr } = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toMatch(/root cause: step a failed: .*rejected promise that nothing awaits: afloat/);
    expect(stdout).toContain('plan resume S');
  });

  test('that prints leaves stdout to the data: its lines are the log of its step', async () => {
    const folder = new PlanFolder(plan('  a: { call: { function: "./m.mjs#f" } }\n'));
    folder.write('m.mjs', "export const f = () => { console.log('from console'); process.stdout.write('no line end'); return 1; };");
    const { code, stdout } = await folder.plan(['run', 'p.yaml', '--session', 'S', '--json']);
    expect(code).toBe(0);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ type: 'result', status: 'completed' });
    expect((await folder.plan(['logs', 'S', 'a'])).stdout).toBe('from console\nno line end');
    expect((await folder.plan(['run', 'p.yaml'])).stdout).toContain('a | from console\na | no line end\n');
  });

  test('that is too slow is ended before its next attempt begins, and ends with Ctrl-C', async () => {
    const folder = new PlanFolder(plan('  a: { call: { function: "./m.mjs#f" }, retry: { max_attempts: 2, delay: 1ms }, attempt_timeout: 300ms, kill_grace: 100ms }\n'));
    folder.write('m.mjs', "import { appendFileSync, readFileSync } from 'node:fs'; const lives = (pid) => { try { return process.kill(pid, 0); } catch { return false; } }; export const f = (_, { signal }) => { appendFileSync('pids', `${process.pid}\\n`); const before = readFileSync('pids', 'utf8').trim().split('\\n').slice(0, -1); if (!signal.aborted) appendFileSync('beside', before.some(lives) ? 'yes\\n' : 'no\\n'); for (;;); };");
    const timed = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect(timed.code).toBe(1);
    expect(folder.lines('beside')).toEqual(['no', 'no']);
    expect(lives(folder)).toEqual([false, false]);

    folder.write('p.yaml', plan('  a: { call: { function: "./m.mjs#g" } }\n'));
    folder.write('m.mjs', "import { appendFileSync, writeFileSync } from 'node:fs'; export const g = () => { appendFileSync('pids', `${process.pid}\\n`); writeFileSync('up', ''); return new Promise((r) => setTimeout(r, 60000)); };");
    const run = folder.start(['run', 'p.yaml', '--session', 'T']);
    await folder.untilFile('up');
    run.child.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    expect(lives(folder)).toEqual([false, false, false]);
    expect(await folder.json(['show', 'T'])).toMatchObject({ status: 'ready', interrupted: true });
  });

  test('of a driver that was killed is ended by the take-over before it runs again', async () => {
    const folder = new PlanFolder(plan('  a: { call: { function: "./m.mjs#f" } }\n'));
    folder.write('m.mjs', "import { appendFileSync, existsSync } from 'node:fs'; export const f = async () => { appendFileSync('pids', `${process.pid}\\n`); while (!existsSync('go')) await new Promise((r) => setTimeout(r, 20)); return process.pid; };");
    const run = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('pids');
    run.child.kill('SIGKILL');
    await run.ended;
    const again = folder.start(['resume', 'S']);
    await folder.until('the second attempt', () => folder.lines('pids').length === 2);
    expect(lives(folder)).toEqual([false, true]);
    folder.write('go', '');
    expect((await again.ended).code).toBe(0);
  });
});

describe('the last net', () => {
  const waiting = plan('  a: { run: "echo $$ > pids; touch up; exec sleep 30" }\n');
  const preload = (folder: PlanFolder, source: string) => {
    folder.write('preload.mjs', `import { existsSync } from 'node:fs'; const timer = setInterval(() => { if (!existsSync('up')) return; clearInterval(timer); ${source} }, 20);`);
    return { NODE_OPTIONS: `--import ${folder.dir}/preload.mjs` };
  };

  test('a process that exits with 0 while it drives a session exits with 1, and says how to go on', async () => {
    const folder = new PlanFolder(waiting);
    const { code, stderr } = await folder.plan(['run', 'p.yaml', '--session', 'S'], preload(folder, 'process.exit(0)'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: something ended this process while session S was driven.*\n {2}plan resume S\n$/) as string]);
    expect(await folder.json(['show', 'S'])).toMatchObject({ interrupted: true });
    await folder.plan(['cancel', 'S']);
  });

  test('an error that nothing caught is told in one line; the session is saved and resumable', async () => {
    const folder = new PlanFolder(waiting);
    const { code, stdout, stderr } = await folder.plan(['run', 'p.yaml', '--session', 'S'], preload(folder, "void Promise.reject(new Error('stray'))"));
    expect([code, stderr]).toEqual([130, expect.stringMatching(/^error: Error: stray: nothing caught it.*\n$/) as string]);
    expect(stdout).toContain('plan resume S');
    expect(await folder.json(['show', 'S'])).toMatchObject({ status: 'ready', interrupted: true });
    expect(lives(folder)).toEqual([false]);
  });
});
