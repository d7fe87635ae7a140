// Sections 4 to 6: what a step writes, how its process ends, when it is tried again.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Case, planText } from './case.js';

describe.concurrent('outputs', () => {
  test('B18: a chatty step is not killed by its output; what is kept is capped and says so; memory stays flat', async (context) => {
    const folder = new Case(context, planText('chatty', `steps:
  big: { run: "head -c 50000000 /dev/zero | tr '\\\\0' a | fold -w 80; echo big >> fx" }
  next: { needs: [big], run: "echo next >> fx" }
`));
    const ran = await folder.bash('plan run p.yaml --session S > o 2>&1', { NODE_OPTIONS: '--max-old-space-size=200' });
    expect(ran.code, folder.read('o').slice(-2000)).toBe(0);
    expect(folder.lines('fx')).toEqual(['big', 'next']);
    const { log } = await folder.step('big');
    expect(log).toMatchObject({ bytes: 50_624_999, truncated: true });
    expect(log?.kept).toBeLessThan(30_000_000);
    expect(folder.storeBytes().length).toBeLessThan(30_000_000);
    // Head and tail are kept.
    const logs = await folder.bash("plan logs S big > l; head -1 l; tail -1 l");
    expect(logs.stdout).toBe(`${'a'.repeat(80)}\n${'a'.repeat(80)}`);
  });

  test('B18: a captured output that is too large fails its step with the limit, and kills nothing', async (context) => {
    const folder = new Case(context, planText('chatty', `steps:
  big: { run: "head -c 50000000 /dev/zero | tr '\\\\0' a; echo big >> fx", stdout: text }
`));
    const ran = await folder.bash('plan run p.yaml --session S > o 2>&1', { NODE_OPTIONS: '--max-old-space-size=200' });
    expect(ran.code).toBe(1);
    expect(folder.lines('fx')).toEqual(['big']);
    expect((await folder.step('big')).error).toMatchObject({ class: 'permanent', message: expect.stringMatching(/\d+ bytes/) });
  });

  test('B20: letters that straddle two writes stay whole, in the value, in the log and in JSON', async (context) => {
    const folder = new Case(context, planText('chunks', `steps:
  u: { run: "printf '\\\\342\\\\211'; sleep 0.3; printf '\\\\244'", stdout: text }
  v: { needs: [u], env: { V: "\${{ steps.u.result }}" }, run: 'printf "%s" "$V" | od -An -tx1 >> fx' }
  shown: { run: "printf '\\\\342\\\\211'; sleep 0.3; printf '\\\\244'" }
  j: { run: "printf '{\\"x\\":\\"\\\\360\\\\237'; sleep 0.2; printf '\\\\230'; sleep 0.2; printf '\\\\200\\"}'", stdout: json }
  w: { needs: [v], env: { V: "\${{ steps.j.result.x }}" }, run: 'printf "%s" "$V" | od -An -tx1 >> fx' }
`));
    const ran = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect(ran.code, ran.stdout).toBe(0);
    expect(folder.lines('fx').map((line) => line.trim())).toEqual(['e2 89 a4', 'f0 9f 98 80']);
    expect(ran.stdout).toContain('shown | \u2264\n');
    expect((await folder.bash('plan logs S u | od -An -tx1')).stdout.trim()).toBe('e2 89 a4');
  });

  test('B20: bytes that are no UTF-8 are kept in the log and flagged', async (context) => {
    const folder = new Case(context, planText('bytes', `on_failure: continue
steps:
  log: { run: "printf 'a\\\\377b\\\\n'" }
  value: { run: "printf 'a\\\\377b\\\\n'", stdout: text }
`));
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S'])).code).toBe(1);
    expect((await folder.bash('plan logs S log | od -An -tx1')).stdout.trim()).toBe('61 ff 62 0a');
    expect((await folder.step('log')).log).toMatchObject({ binary: true });
    expect(await folder.step('value')).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('UTF-8') } });
  });

  test('B22: parallel output is whole lines under step names, and the end names the root cause alone', async (context) => {
    const folder = new Case(context, planText('mixed', `concurrency: 3
steps:
  a: { run: "printf AAAA; sleep 0.5; exit 3" }
  b: { run: "trap 'echo BINT; exit 1' TERM; for i in 1 2 3 4 5 6; do printf B; sleep 0.3; done & wait" }
  c: { run: "printf CC; sleep 0.2; printf CC" }
`));
    const ran = await folder.bash('plan run p.yaml --session S > o 2>&1; echo "rc $?"');
    expect(ran.stdout).toBe('rc 1\n');
    const lines = folder.lines('o');
    expect(lines.filter((line) => /A.*B|B.*A|A.*CC|CC.*A|B.*CC|CC.*B/.test(line))).toEqual([]);
    expect(lines).toEqual(expect.arrayContaining(['a | AAAA', 'b | BBBBBB', 'c | CCCC']));
    const end = folder.read('o').split('root cause')[1];
    expect(end).toMatch(/a failed.*3/);
    expect(end).not.toMatch(/step [bc]\b/);
    expect((await folder.show()).steps.map((step) => step.status)).toEqual(['failed', 'completed', 'completed']);
  });
});

describe.concurrent('process control', () => {
  test('B23: a grandchild that holds the pipe does not outlive the time limit, nor one that left the group', async (context) => {
    const folder = new Case(context, planText('grand', `on_failure: continue
steps:
  t: { attempt_timeout: 2s, run: "sleep 311 & echo $! > pid; sleep 20" }
  u: { attempt_timeout: 2s, run: "setsid sleep 312 & sleep 20" }
  v: { run: "sleep 313 & echo done" }
`));
    const ran = await folder.bash('plan run p.yaml --session S > o 2>&1; echo "rc $?"; test -s pid && echo started; sleep 1; ps -o stat=,args= -p "$(cat pid)" | grep -v ^Z; pgrep -f "^sleep 31[123]$"');
    expect(ran.stdout).toBe('rc 1\nstarted\n');
    expect(ran.seconds).toBeLessThan(16);
    const { steps } = await folder.show();
    expect(steps.map((step) => [step.status, step.error?.class])).toEqual([['failed', 'timeout'], ['failed', 'timeout'], ['completed', undefined]]);
  });

  test('B25: a death by a signal is a failure with its signal and 128+n, and dependents do not run', async (context) => {
    const folder = new Case(context, planText('oom', `on_failure: continue
steps:
  k: { run: "echo k >> fx; kill -9 $$" }
  argv: { run: [sh, -c, "kill -SEGV $$"] }
  inner: { run: "sh -c 'kill -9 $$'; echo survived >> fx" }
  after: { needs: [k], run: "echo after >> fx" }
  later: { needs: [argv], run: "echo after >> fx" }
`));
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S'])).code).toBe(1);
    expect(folder.lines('fx')).toEqual(['k']);
    const steps = (await folder.show()).steps;
    expect(steps[0]).toMatchObject({ status: 'failed', error: { signal: 'SIGKILL', exit_code: 137 } });
    expect(steps[1]).toMatchObject({ status: 'failed', error: { signal: 'SIGSEGV', exit_code: 139 } });
    // Here the shell saw the signal and ended by itself, with the code that shells give.
    expect(steps[2]).toMatchObject({ status: 'failed', error: { exit_code: 137 } });
    expect(steps.slice(3).map((step) => step.status)).toEqual(['skipped', 'skipped']);
  });
});

/** A server that answers as told, and notes the time between requests. */
async function listening(answer: (n: number) => { status: number; retryAfter?: string }): Promise<{ server: Server; url: string; gaps: number[] }> {
  const gaps: number[] = [];
  let last = 0;
  const server = createServer((_, response) => {
    const now = Date.now();
    gaps.push(last === 0 ? 0 : now - last);
    last = now;
    const { status, retryAfter } = answer(gaps.length);
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, gaps };
}

describe.concurrent('retries', () => {
  test('B28: a crash during a retry wait does not start the count again', async (context) => {
    const folder = new Case(context, planText('count', `steps:
  r: { retry: { max_attempts: 3, delay: 3s, backoff: constant, jitter: false }, run: "echo $PLAN_ATTEMPT >> fx; exit 1" }
`));
    const killed = folder.bash('plan run p.yaml --session S & echo $! > pid; wait $!; echo "rc $?"');
    await folder.until('the retry wait', async () => folder.exists('fx') && (await folder.step('r')).status === 'retry_wait');
    await folder.bash('kill -9 $(cat pid)');
    expect((await killed).stdout).toMatch(/rc 137\n$/);
    expect((await folder.plan(['resume', 'S'])).code).toBe(1);
    expect(folder.lines('fx')).toEqual(['1', '2', '3']);
    expect(await folder.step('r')).toMatchObject({ status: 'failed', attempt: 3, failures: 3, interruptions: 0, generation: 1 });
    // Only this, the resume of a session that had ended, grants new attempts.
    expect((await folder.plan(['resume', 'S', '--max-wait', '0s'])).code).toBe(3);
    expect(folder.lines('fx')).toEqual(['1', '2', '3', '1']);
  });

  test('B30: what is final ends the step at once: exit code, HTTP status, class of the error', async (context) => {
    const { server, url, gaps } = await listening(() => ({ status: 422 }));
    context.onTestFinished(() => void server.close());
    const retry = 'retry: { max_attempts: 5, delay: 20s';
    const folder = new Case(context, planText('final', `on_failure: continue
steps:
  r: { ${retry}, retry_on: [any, "exit:1", "exit:2"], give_up_on: ["exit:2"] }, run: "echo try >> fx; exit 2" }
  h: { ${retry} }, http: { url: "${url}" } }
  g: { ${retry}, retry_on: ["http:4xx"], give_up_on: ["http:422"] }, http: { url: "${url}" } }
  f: { ${retry}, retry_on: [any] }, call: { function: "./m.mjs#bad" } }
  n: { ${retry} }, run: [./no-such-program] }
`));
    folder.write('m.mjs', `import fs from 'node:fs';\nexport const bad = () => { fs.appendFileSync('fy', 'try\\n'); throw new TypeError('wrong for ever'); };\n`);
    // Whatever would be retried would leave here, with 3.
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S', '--max-wait', '0s'])).code).toBe(1);
    expect([folder.lines('fx').length, folder.lines('fy').length, gaps.length]).toEqual([1, 1, 2]);
    const steps = (await folder.show()).steps;
    expect(steps.map((step) => [step.id, step.attempt])).toEqual([['r', 1], ['h', 1], ['g', 1], ['f', 1], ['n', 1]]);
    expect(steps[0]?.error?.not_retried).toBe('not retried: exit 2 is in give_up_on');
    for (const step of steps) expect(step.error?.not_retried).toMatch(/^not retried: /);
  });

  test('B32: Retry-After as garbage, as nothing to wait and as a date never means "now"', async (context) => {
    const answers = ['soon', '0'];
    const { server, url, gaps } = await listening((n) =>
      n === 3 ? { status: 503, retryAfter: new Date(Date.now() + 3000).toUTCString() } : n > 3 ? { status: 200 } : { status: 429, retryAfter: answers[n - 1] as string },
    );
    context.onTestFinished(() => void server.close());
    const folder = new Case(context, planText('after', `steps:
  h: { retry: { max_attempts: 5, delay: 1500ms, backoff: constant, jitter: false }, http: { url: "${url}" } }
`));
    const ran = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect([ran.code, gaps.length]).toEqual([0, 4]);
    for (const gap of gaps.slice(1)) expect(gap).toBeGreaterThanOrEqual(1450);
    // The date was cut to whole seconds on its way.
    expect(gaps[3]).toBeGreaterThanOrEqual(1950);
  });

  test('B32: a wait that no timer can hold is clamped and stored', async (context) => {
    const { server, url, gaps } = await listening(() => ({ status: 429, retryAfter: '99999999999999' }));
    context.onTestFinished(() => void server.close());
    const folder = new Case(context, planText('after', `steps:
  h: { retry: { max_attempts: 5, delay: 1s }, http: { url: "${url}" } }
`));
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S', '--max-wait', '2s'])).code).toBe(3);
    expect(gaps.length).toBe(1);
    const { next_retry_at: at } = (await folder.step('h')) as unknown as { next_retry_at: number };
    expect(at - Date.now()).toBeGreaterThan(60_000);
    expect(at - Date.now()).toBeLessThanOrEqual(86_400_000);
  });
});
