// The binary end to end: each verb, each exit code, and the public faults of command lines.
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PlanFolder, processesWith } from '../support/plan-command.js';

const BIN = resolve(import.meta.dirname, '../../bin/plan.js');
const head = (name: string) => `plan: 1\nname: ${name}\n`;

describe('run', () => {
  test('B22: parallel output is whole lines under step names, and the end names the root cause alone', async () => {
    const folder = new PlanFolder(`${head('mixed')}concurrency: 3\nsteps:
  a: { run: "printf AAAA; sleep 0.5; exit 3" }
  b: { run: "for i in 1 2 3 4 5 6; do printf B; sleep 0.2; done" }
  c: { run: "printf CC; sleep 0.2; printf CC" }\n`);
    const { code, stdout } = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect(code).toBe(1);
    expect(stdout).toContain('a | AAAA\n');
    expect(stdout).toContain('c | CCCC\n');
    expect(stdout.match(/A.*B|B.*A|A.*CC|CC.*A|B.*CC|CC.*B/g)).toBeNull();
    const end = stdout.trimEnd().split('\n').slice(-5).join('\n');
    expect(end).toMatch(/root cause: step a failed: .*3/);
    expect(end).not.toMatch(/step [bc]\b/);
  });

  test('B57: a secret is on no sink', async () => {
    const secret = 's3cr3t-v4lue-9';
    const folder = new PlanFolder(`${head('leak')}secrets: [TOKEN]\nsteps:
  a: { env: { TOKEN: "\${{ secrets.TOKEN }}" }, run: "echo using $TOKEN; echo fatal http://u:$TOKEN@host >&2; exit 1" }\n`);
    const env = { TOKEN: secret };
    const ran = await folder.plan(['run', 'p.yaml', '--session', 'S'], env);
    expect(ran.code).toBe(1);
    const ended = await Promise.all([['show', 'S', '--json'], ['show', 'S'], ['show', 'S', 'a'], ['events', 'S'], ['events', 'S', '--json']].map((args) => folder.plan(args, env)));
    const logs = await folder.plan(['logs', 'S', 'a'], env);
    for (const one of [ran, logs, ...ended]) expect(one.stdout + one.stderr).not.toContain(secret);
    expect(folder.storeBytes().includes(secret)).toBe(false);
    expect(logs.stdout).toContain('using ***');
  });

  test('B62: the exit code follows the worst outcome, never the code of a step', async () => {
    const folder = new PlanFolder(`${head('codes')}steps:
  good: { run: "echo good >> fx" }
  bad: { run: "exit 3" }
  tail: { needs: [good], run: "echo tail >> fx" }\n`);
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S'])).code).toBe(1);
    expect((await folder.json<{ status: string }>(['show', 'S'])).status).toBe('failed');
    folder.write('q.yaml', 'steps: 5');
    expect((await folder.plan(['validate', 'q.yaml'])).code).toBe(2);
    expect((await folder.plan(['validate', 'nofile.yaml'])).code).toBe(2);
    expect((await folder.plan(['validate', 'p.yaml', 'q.yaml'])).code).toBe(2);
    expect((await folder.plan(['validate', 'p.yaml'])).code).toBe(0);
    expect((await folder.plan(['run', 'q.yaml'])).code).toBe(2);
  });

  test('B64: a reader that goes away does not disturb the run', async () => {
    const folder = new PlanFolder(`${head('head')}steps:
  a: { run: "seq 3000; echo x >> fx" }
  b: { needs: [a], run: "sleep 0.5; seq 3000; echo x >> fx" }\n`);
    for (const [session, flags] of [['S', ''], ['J', '--json']]) {
      const codes = (await folder.bash(`plan run p.yaml --session ${session} ${flags} 2> err | head -1 > first; echo "\${PIPESTATUS[0]}"`)).stdout;
      expect(codes).toBe('0\n');
      expect(folder.read('err')).toBe('');
      expect((await folder.json<{ status: string }>(['show', session as string])).status).toBe('completed');
    }
    expect(folder.lines('fx')).toHaveLength(4);
    expect((await folder.bash('plan run p.yaml --session N >&- 2>&-; echo $?')).stdout).toBe('0\n');
  });

  test('B66: a session name is no path', async () => {
    const folder = new PlanFolder(`${head('paths')}steps: { a: { run: "echo 1 >> fx" } }\n`);
    for (const name of ['../../T', 'a/b', 'a:b', 'CON', '', '-x', 'x'.repeat(101)]) {
      const { code, stderr } = await folder.plan(['run', 'p.yaml', `--session=${name}`]);
      expect([name, code]).toEqual([name, 2]);
      expect(stderr).toContain('cannot name a session');
    }
    expect(folder.exists('fx')).toBe(false);
    expect(folder.exists('.plan')).toBe(false);
  });

  test('missing and wrong params and secrets are told all at once, and nothing is stored', async () => {
    const folder = new PlanFolder(`${head('inputs')}secrets: [TOKEN]
params: { a: { type: integer }, b: { type: string, enum: [x, y] } }
steps: { s: { env: { T: "\${{ secrets.TOKEN }}", A: "\${{ params.a }}", B: "\${{ params.b }}" }, run: "echo 1 >> fx" } }\n`);
    const { code, stderr, stdout } = await folder.plan(['run', 'p.yaml', '-p', 'b=z', '-p', 'c=1', '--json']);
    expect(code).toBe(2);
    for (const name of ['param a', 'param b', '"c"', 'secret TOKEN']) expect(stderr).toContain(name);
    expect((JSON.parse(stdout) as { faults: unknown[] }).faults).toHaveLength(4);
    expect(folder.exists('.plan')).toBe(false);
  });

  test('params come from a file and from options, which win', async () => {
    const folder = new PlanFolder(`${head('params')}params: { v: { type: string }, n: { type: integer } }
steps: { s: { env: { V: "\${{ params.v }}", N: "\${{ params.n }}" }, run: 'echo "$V $N" >> fx' } }\n`);
    folder.write('f.yaml', 'v: 3.10\nn: 1\n');
    expect((await folder.plan(['run', 'p.yaml', '--params-file', 'f.yaml', '--param', 'n=2'])).code).toBe(0);
    expect(folder.read('fx')).toBe('3.10 2\n');
  });

  test('--json: only JSON on stdout, nothing on stderr', async () => {
    const folder = new PlanFolder(`${head('json')}steps: { a: { run: "echo noise; echo more >&2" } }\n`);
    const { stdout, stderr } = await folder.plan(['run', 'p.yaml', '--session', 'S', '--json']);
    const lines = stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as { type: string; status?: string });
    expect(lines.at(-1)).toMatchObject({ type: 'result', status: 'completed' });
    expect(stderr).toBe('');
    expect((await folder.events('S')).map((event) => event.type)).toEqual(lines.slice(0, -1).map((line) => line.type));
  });
});

describe('sessions that wait', () => {
  test('--max-wait leaves with 3, resume goes on; a spent budget is 3 too until it is raised', async () => {
    const folder = new PlanFolder(`${head('wait')}budget: { attempts: 2 }\nsteps:
  w: { wait: { for: 2s } }
  a: { needs: [w], run: "echo a >> fx" }
  b: { needs: [a], run: "echo b >> fx" }\n`);
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S', '--max-wait', '100ms'])).code).toBe(3);
    expect((await folder.json<{ waiting: object }>(['show', 'S'])).waiting).toMatchObject({ for: 'timer', step_id: 'w' });
    expect((await folder.plan(['resume', 'S'])).code).toBe(3);
    expect((await folder.json<{ status: string }>(['show', 'S'])).status).toBe('paused_budget');
    expect((await folder.plan(['resume', 'S', '--add-budget', 'attempts=x'])).code).toBe(2);
    expect((await folder.plan(['resume', 'S', '--add-budget', 'attempts=1'])).code).toBe(0);
    expect(folder.lines('fx')).toEqual(['a', 'b']);
  });
});

describe('a session whose process was killed', () => {
  test('is shown as interrupted by show, list and doctor, with what to do; then it goes on', async () => {
    const folder = new PlanFolder(`${head('dead')}steps:\n  a: { run: "echo a >> fx; test -e go || sleep 311" }\n`);
    const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('fx');
    const busy = await folder.plan(['resume', 'S', '--json']);
    expect(busy.code).toBe(6);
    expect(JSON.parse(busy.stdout)).toMatchObject({ type: 'error', code: 'session_held', holder: { pid: child.pid } });
    expect(await folder.json(['show', 'S'])).toMatchObject({ status: 'running', interrupted: false, owner: { pid: child.pid, state: 'alive' } });
    child.kill('SIGKILL');
    await ended;
    expect(await folder.json(['show', 'S'])).toMatchObject({ status: 'running', interrupted: true, owner: { state: 'dead' }, next: [{ command: 'plan resume S' }, { command: 'plan cancel S' }] });
    expect((await folder.plan(['show', 'S'])).stdout).toMatch(/^session S: interrupted/);
    expect((await folder.plan(['list', '--status', 'interrupted'])).stdout).toMatch(/^S +interrupted/m);
    const doctor = await folder.plan(['doctor']);
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toMatch(/warning +sessions: S .*is gone\n +plan resume S/);
    expect(doctor.stdout).toMatch(/warning +orphans: \d+ processes of session S, step a/);
    folder.write('go', '');
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    expect(processesWith('sleep 311')).toEqual([]);
    const again = await folder.plan(['resume', 'S']);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('completed already') as string]);
    expect((await folder.plan(['doctor'])).stdout).toContain('ok       orphans');
  });
});

describe('what can be looked at', () => {
  test('logs are the bytes that were written, by step and attempt; all of them under heads', async () => {
    const folder = new PlanFolder(`${head('logs')}steps:
  a: { retry: { max_attempts: 2, delay: 10ms }, run: "printf '\\\\377\\\\000try %s' $PLAN_ATTEMPT; test $PLAN_ATTEMPT = 2" }
  b: { needs: [a], set: { x: 1 } }
  c: { needs: [a], run: "echo from c" }\n`);
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S'])).code).toBe(0);
    expect((await folder.bash('plan logs S a | od -An -tx1')).stdout).toBe(' ff 00 74 72 79 20 32\n');
    expect((await folder.bash('plan logs S a --attempt 1 | tail -c 5')).stdout).toBe('try 1');
    const all = (await folder.plan(['logs', 'S'])).stdout;
    expect(all.match(/^==> .* <==$/gm)).toEqual(['==> a <==', '==> a, attempt 2 <==', '==> c <==']);
    const none = await folder.plan(['logs', 'S', 'b']);
    expect([none.code, none.stdout]).toEqual([0, '']);
    expect(none.stderr).toContain('b has no log');
    expect((await folder.plan(['logs', 'S', 'x'])).code).toBe(2);
    expect((await folder.plan(['logs', 'S', 'a', '--attempt', '9'])).stderr).toContain('it has 1, 2');
  });

  test('events are followed until the session ends', async () => {
    const folder = new PlanFolder(`${head('follow')}steps:\n  a: { run: "touch up; sleep 1" }\n`);
    const run = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('up');
    const followed = await folder.plan(['events', 'S', '-f', '--json', '--after', '1']);
    await run.ended;
    const types = followed.stdout.trimEnd().split('\n').map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toEqual(['step_started', 'step_completed', 'session_completed']);
  });

  test('an unknown session is exit 2, and says where one of that name is', async () => {
    const folder = new PlanFolder(`${head('where')}steps: { a: { run: "true" } }\n`);
    await folder.plan(['run', 'p.yaml', '--session', 'S']);
    mkdirSync(join(folder.dir, 'x/y'), { recursive: true });
    const below = (verb: string) => spawnSync(process.execPath, [BIN, verb, 'S'], { cwd: join(folder.dir, 'x/y'), encoding: 'utf8' });
    for (const verb of ['show', 'resume', 'retry', 'cancel', 'logs', 'events', 'audit']) {
      const { status, stderr } = below(verb);
      expect([verb, status]).toEqual([verb, 2]);
      expect(stderr).toContain(`add --store ${folder.dir}/.plan`);
    }
    expect((await folder.plan(['show', 'T'])).stderr).toMatch(/^error: there is no session "T" in .*\n$/);
    expect(spawnSync(process.execPath, [BIN, 'show', 'S'], { cwd: join(folder.dir, 'x'), env: { ...process.env, PLAN_HOME: `${folder.dir}/.plan` } }).status).toBe(0);
  });

  test('a store that is refused is exit 7, and doctor says the same', async () => {
    const folder = new PlanFolder(`${head('bad')}steps: { a: { run: "true" } }\n`);
    folder.write('notes.db', 'these are my notes, and no database at all, as everybody can see');
    const { code, stderr } = await folder.plan(['run', 'p.yaml', '--store', 'notes.db']);
    expect([code, stderr]).toEqual([7, expect.stringContaining('not a Planwright database') as string]);
    expect((await folder.plan(['doctor', '--store', 'notes.db'])).code).toBe(7);
    expect(folder.read('notes.db')).toContain('my notes');
  });

  test('the store is readable by its owner only', async () => {
    const folder = new PlanFolder(`${head('mode')}steps: { a: { run: "echo x" } }\n`);
    await folder.plan(['run', 'p.yaml', '--session', 'S']);
    for (const file of ['.plan/plan.db', '.plan/logs/S/a.1.1.log']) expect(statSync(join(folder.dir, file)).mode & 0o077, file).toBe(0);
  });

  test('without arguments it prints its help and exits 2', async () => {
    const { code, stdout, stderr } = await new PlanFolder().plan([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: plan');
  });
});
