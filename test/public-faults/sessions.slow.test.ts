// Sections 7, 9 and 10: what a resume knows, what a cancel stops, who owns a session, what the store does beside readers.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { Case, planText } from './case.js';

describe.concurrent('resume', () => {
  test('B33: every later resume knows what the first one knew, the success of a second attempt too', async (context) => {
    const folder = new Case(context, planText('again', `steps:
  a: { retry: { max_attempts: 2, delay: 100ms }, run: "echo a >> fx; echo va; test $(grep -c a fx) = 2", stdout: text }
  b: { needs: [a], env: { V: "\${{ steps.a.result }}" }, run: 'echo "b-$V" >> fx; test -e go' }
`));
    const codes = await folder.bash('plan run p.yaml --session S; echo "rc $?"; plan resume S; echo "rc $?"; plan resume S; echo "rc $?"; touch go; plan resume S; echo "rc $?"');
    expect(codes.stdout.match(/^rc \d+$/gm)).toEqual(['rc 1', 'rc 1', 'rc 1', 'rc 0']);
    expect(folder.lines('fx')).toEqual(['a', 'a', 'b-va', 'b-va', 'b-va', 'b-va']);
    expect((await folder.show()).steps).toMatchObject([{ status: 'completed', generation: 1 }, { status: 'completed', generation: 4 }]);
    // What completed is not run again by one more.
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    expect(folder.lines('fx')).toHaveLength(6);
  });

  test('B37: a resume runs the plan that the session was started with, whatever became of the file', async (context) => {
    const folder = new Case(context, planText('edited', `steps:
  a: { run: "echo a1 >> fx" }
  b: { needs: [a], run: "echo b1 >> fx; test -e go" }
`));
    const script = 'plan run p.yaml --session S; sed -i "s/a1/a2/; s/b1/b2/; s/  b:/  c:/" p.yaml; touch go; cd /; plan resume S --store "$OLDPWD/.plan"; echo "rc $?"; rm "$OLDPWD/p.yaml"; plan show S --store "$OLDPWD/.plan" --json > "$OLDPWD/shown"';
    expect((await folder.bash(script)).stdout).toMatch(/rc 0\n/);
    expect(folder.lines('fx')).toEqual(['a1', 'b1', 'b1']);
    expect((JSON.parse(folder.read('shown')) as { steps: Array<{ id: string }> }).steps.map((step) => step.id)).toEqual(['a', 'b']);
  });

  test('B39: a condition is decided once, also when the environment changed meanwhile', async (context) => {
    const folder = new Case(context, planText('window', `steps:
  a: { run: "echo a >> fx" }
  b: { needs: [a], if: "\${{ env.WINDOW == 'open' }}", run: "echo b >> fx; test -e go" }
  c: { needs: [b], run: "echo c >> fx" }
  shut: { needs: [a], if: env.WINDOW != "open", run: "echo shut >> fx" }
`));
    const ran = await folder.bash('WINDOW=open plan run p.yaml --session S; echo "rc $?"; touch go; WINDOW=shut plan resume S; echo "rc $?"');
    expect(ran.stdout.match(/^rc \d+$/gm)).toEqual(['rc 1', 'rc 0']);
    expect(folder.lines('fx')).toEqual(['a', 'b', 'b', 'c']);
    expect((await folder.show()).steps.map((step) => step.status)).toEqual(['completed', 'completed', 'completed', 'skipped']);
  });
});

describe.concurrent('cancellation', () => {
  test('B46: a cancel during a retry wait ends the run at once, and is never written over', async (context) => {
    const folder = new Case(context, planText('backoff', `steps:
  r: { retry: { max_attempts: 5, delay: 4s, jitter: false }, run: "echo try >> fx; exit 1" }
  n: { needs: [r], run: "echo n >> fx" }
`));
    const running = folder.bash('plan run p.yaml --session S; echo "rc $?"');
    await folder.until('the retry wait', async () => folder.exists('fx') && (await folder.step('r')).status === 'retry_wait');
    const cancelled = await folder.plan(['cancel', 'S']);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    const since = Date.now();
    expect((await running).stdout).toMatch(/rc 5\n$/);
    expect(Date.now() - since).toBeLessThan(3000);
    const statuses = async () => {
      const shown = await folder.show();
      return [shown.status, ...shown.steps.map((step) => step.status)];
    };
    expect(await statuses()).toEqual(['cancelled', 'cancelled', 'cancelled']);
    await new Promise((done) => setTimeout(done, Math.max(0, since + 4500 - Date.now())));
    expect(await statuses()).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(folder.lines('fx')).toEqual(['try']);
  });

  test('B48: after a cancel nothing starts, what was queued is settled, and the run ends within the grace', async (context) => {
    const folder = new Case(context, planText('queue', `concurrency: 1
steps:
  a: { run: "touch up; sleep 30; echo a >> fx" }
  b: { run: "touch up; sleep 30; echo b >> fx" }
  c: { needs: [a], run: "echo c >> fx" }
finally:
  z: { run: "echo z >> fz" }
`));
    const ran = await folder.bash('plan run p.yaml --session S & P=$!; w up; plan cancel S > /dev/null; wait $P; echo "rc $?"; plan resume S; echo "rc $?"; plan cancel S; echo "rc $?"');
    expect(ran.stdout.match(/^rc \d+$/gm)).toEqual(['rc 5', 'rc 2', 'rc 2']);
    expect(ran.seconds).toBeLessThan(20);
    expect([folder.exists('fx'), folder.lines('fz')]).toEqual([false, ['z']]);
    const shown = await folder.show();
    expect([shown.status, ...shown.steps.map((step) => step.status)]).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled', 'completed']);
    // Forced, it runs after all.
    const forced = await folder.bash('rm up\nplan retry S > /dev/null & P=$!; w up; plan cancel S > /dev/null; wait $P; echo "rc $?"');
    expect(forced.stdout).toBe('rc 5\n');
    expect(folder.exists('fx')).toBe(false);
  });
});

describe.concurrent('owners', () => {
  test('B51: of three that resume a session one works, the others are refused at once and told by whom', async (context) => {
    const folder = new Case(context, planText('owner', `steps:
  a: { run: "echo a >> fx; sleep 4; test -e go" }
  b: { needs: [a], run: "echo b >> fx" }
`));
    const ran = await folder.bash('plan run p.yaml --session S; touch go; for i in 1 2 3; do (plan resume S 2>> err; echo "rc $?" >> rcs) & done; wait');
    expect(ran.code).toBe(0);
    expect(folder.lines('rcs').sort()).toEqual(['rc 0', 'rc 6', 'rc 6']);
    expect(folder.lines('fx')).toEqual(['a', 'a', 'b']);
    expect(folder.lines('err').filter((line) => /driven by process \d+ on \S+/.test(line))).toHaveLength(2);
  });

  const unshare = ['-rpf', '--mount-proc'];
  const mayUnshare = spawnSync('unshare', [...unshare, 'true']).status === 0;
  test.skipIf(!mayUnshare)('B55: a lease of another process namespace ends by its time, although its process id lives here (needs unshare)', async (context) => {
    const folder = new Case(context, planText('lock', `steps:
  a: { retry: { max_attempts: 2 }, run: "echo a >> fx; test -e go || sleep 337" }
`));
    await folder.bash(`unshare ${unshare.join(' ')} bash -c 'plan run p.yaml --session S & until [ -e fx ]; do sleep 0.1; done; sleep 0.5; kill -9 $!'; touch go`);
    expect(folder.lines('fx')).toEqual(['a']);
    const ran = await folder.bash(`unshare ${unshare.join(' ')} bash -c 'for i in $(seq 20); do sleep 90 & done; for i in $(seq 15); do plan resume S; rc=$?; echo "rc $rc"; [ $rc = 0 ] && break; sleep 3; done'`);
    const codes = ran.stdout.match(/^rc \d+$/gm) ?? [];
    expect(codes.at(-1)).toBe('rc 0');
    expect(new Set(codes.slice(0, -1))).toEqual(new Set(['rc 6']));
    expect(ran.seconds).toBeLessThan(45);
    expect(folder.lines('fx')).toEqual(['a', 'a']);
    expect(await folder.step('a')).toMatchObject({ status: 'completed', interruptions: 1, failures: 0 });
  });

  test('B53: an open reader never blocks the run, and the first command without a reader makes the log small', async (context) => {
    const steps = Array.from({ length: 150 }, (_, i) => `  s${i}: { run: "head -c 150000 /dev/urandom | base64 -w0; echo x >> fx", stdout: text }`).join('\n');
    const folder = new Case(context, planText('wal', `concurrency: 8\nsteps:\n${steps}\n`));
    folder.write('q.yaml', planText('w', 'steps: { a: { run: ":" } }\n'));
    expect((await folder.plan(['run', 'q.yaml', '--session', 'Q'])).code).toBe(0);
    const reader = new Database(join(folder.dir, '.plan/plan.db'), { readonly: true });
    context.onTestFinished(() => void reader.close());
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM sqlite_master').get();
    const ran = await folder.plan(['run', 'p.yaml', '--session', 'S', '--quiet']);
    expect(ran.code, ran.stderr).toBe(0);
    expect(folder.lines('fx')).toHaveLength(150);
    const walBytes = () => (existsSync(join(folder.dir, '.plan/plan.db-wal')) ? statSync(join(folder.dir, '.plan/plan.db-wal')).size : 0);
    expect(walBytes(), 'the reader held the log, or the case shows nothing').toBeGreaterThan(16_000_000);
    reader.close();
    expect((await folder.plan(['show', 'S'])).code).toBe(0);
    expect(walBytes()).toBeLessThan(16_000_000);
    expect((await folder.plan(['audit', 'S'])).code).toBe(0);
  });
});
