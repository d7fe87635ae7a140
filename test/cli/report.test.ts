// What a drive shows: real sessions in memory, reported to streams that keep it.
import { describe, expect, test } from 'vitest';
import { driveToEnd } from '../../src/cli/drive-to-end.js';
import type { SessionHandle, SessionResult } from '../../src/executor/session-handle.js';
import { PermanentError, TransientError, type PlanExecutorOptions } from '../../src/index.js';
import { executor, loaded, memoryStore } from '../support/sessions.js';
import { fakeWorld, type FakeWorld } from './support.js';

interface Driven extends FakeWorld {
  code: number;
  lines: string[];
}

async function drive(body: string, options: { json?: boolean; quiet?: boolean; functions?: PlanExecutorOptions['functions']; tty?: boolean; store?: string } = {}): Promise<Driven> {
  const world = fakeWorld(options);
  const plan = await loaded(body);
  const store = await memoryStore();
  const runner = executor({ store, ...(options.functions === undefined ? {} : { functions: options.functions }) });
  const code = await driveToEnd(world.context, { ...options, title: 'session S: plan test', steps: plan.plan.steps.length }, (drive) => runner.run(plan, { ...drive, sessionId: 'S' }));
  return { ...world, code, lines: world.stdout.text.split('\n') };
}

const bad = () => {
  throw new PermanentError('the disk is on fire');
};

describe('the report for people', () => {
  test('names the session first, each step as it ends, and the outcome with its outputs last', async () => {
    const { lines, code, stderr } = await drive('steps:\n  a: { set: { x: 5 } }\n  b: { needs: [a], if: "false", set: { y: 1 } }\n  c: { needs: [b], set: { z: 1 } }\noutputs: { x: "${{ steps.a.outputs.x }}" }\n');
    expect(code).toBe(0);
    expect(lines[0]).toBe('session S: plan test');
    expect(lines).toContain('b: skipped: its if is false');
    expect(lines).toContain('c: skipped: b was skipped');
    expect(lines.slice(-4).map((line) => line.replace(/after \S+:/, 'after T:'))).toEqual(['', 'session S: completed after T: 1 completed, 2 skipped', '  x: 5', '']);
    expect(stderr.text).toBe('');
  });

  test('ends with the root cause and the commands to type, naming the first failure alone', async () => {
    const { lines, code } = await drive('steps:\n  a: { call: { function: bad } }\n  b: { needs: [a], set: { y: 1 } }\n', { functions: { bad } });
    expect(code).toBe(1);
    const end = lines.slice(lines.findIndex((line) => line.startsWith('root cause')));
    expect(end[0]).toMatch(/^root cause: step a failed: the disk is on fire/);
    expect(end.slice(1).join('\n')).toContain('plan resume S');
    expect(end.join('\n')).not.toContain('step b');
  });

  test('says how many steps failed beside the root cause; tolerated failures are none', async () => {
    const body = 'on_failure: continue\nsteps:\n  a: { call: { function: bad } }\n  b: { needs: [a], after: any, call: { function: bad } }\n  c: { call: { function: bad }, continue_on_error: true }\n';
    const { lines } = await drive(body, { functions: { bad } });
    expect(lines[lines.findIndex((line) => line.startsWith('root cause')) + 1]).toBe('  and 1 other step failed after it');
    expect((await drive('steps:\n  a: { call: { function: bad } }\n  c: { call: { function: bad }, continue_on_error: true }\n', { functions: { bad } })).stdout.text).not.toContain('failed after it');
  });

  test('shows what steps write under their names, in whole lines, unless told to be quiet', async () => {
    const body = 'concurrency: 2\nsteps:\n  a: { run: "printf A; sleep 0.1; printf A" }\n  b: { run: "printf B; sleep 0.1; echo B; printf last" }\n';
    const { lines } = await drive(body);
    expect(lines).toEqual(expect.arrayContaining(['a | AA', 'b | BB', 'b | last']));
    expect((await drive(body, { quiet: true })).stdout.text).not.toMatch(/AA|BB|last/);
  });

  test('tells each failed attempt with the time of the next', async () => {
    let calls = 0;
    const flaky = () => {
      calls += 1;
      if (calls < 3) throw new TransientError('not yet');
      return {};
    };
    const { lines } = await drive('steps:\n  a: { retry: { max_attempts: 3, delay: 1ms }, call: { function: flaky } }\n', { functions: { flaky } });
    expect(lines.filter((line) => line.startsWith('a: attempt')).map((line) => line.split(' failed')[0])).toEqual(['a: attempt 1 of 3', 'a: attempt 2 of 3']);
    expect(lines.some((line) => /^a: completed in /.test(line))).toBe(true);
  });

  test('on a terminal a wait has its line while it lasts', async () => {
    const { stdout } = await drive('steps:\n  w: { wait: { for: 700ms } }\n', { tty: true });
    expect(stdout.text).toMatch(/waiting for w, until \d\d:\d\d:\d\d \(in \d+ms\) \(0 of 1 ended\)/);
  });

  test('does not list thousands of steps that are skipped for one reason', async () => {
    const steps = Array.from({ length: 100 }, (_, i) => `  s${i}: { needs: [a], set: { x: 1 } }`).join('\n');
    const { lines } = await drive(`steps:\n  a: { call: { function: bad } }\n${steps}\n`, { functions: { bad } });
    expect(lines.filter((line) => line.includes(': skipped')).length).toBe(20);
    expect(lines).toContain('80 more steps skipped');
  });

  test('repeats --store in the commands to type', async () => {
    const { stdout } = await drive('steps:\n  a: { call: { function: bad } }\n', { functions: { bad }, store: 'my store' });
    expect(stdout.text).toContain("plan resume S --store 'my store'");
  });

  test('what a step writes cannot command the terminal, and its colour ends with its line', async () => {
    const body = 'steps:\n  a: { run: "printf \'\\\\033[31mred\\\\033[2J\\\\n\'" }\n';
    expect((await drive(body)).lines).toContain('a | red');
    const { stdout } = await drive(body, { tty: true });
    expect(stdout.text).toContain('\u001b[31mred\u001b[0m\n');
    expect(stdout.text).not.toContain('\u001b[2J');
  });

  test('on a terminal the line that says what runs is cleared before anything else is printed', async () => {
    const { stdout } = await drive('steps:\n  a: { run: "sleep 0.4; echo x; sleep 0.4" }\n', { tty: true });
    expect(stdout.text).toMatch(/1 running: a \d+ms \(0 of 1 ended\)/);
    expect(stdout.text.split('ended)').slice(1).every((rest) => rest.startsWith('\r\u001b[2K'))).toBe(true);
    expect((await drive('steps:\n  a: { run: "sleep 0.8" }\n')).lines).toContain('a: started');
  });

  test('has no escape sequence where there is no terminal', async () => {
    const { stdout } = await drive('steps:\n  a: { call: { function: bad } }\n', { functions: { bad } });
    expect(stdout.text).not.toContain('\u001b');
  });

  test('lines that nobody reads in time are left out and counted; the session does not wait for them', async () => {
    const world = fakeWorld();
    const writes: Array<() => void> = [];
    world.stdout.onWrite = (done) => void writes.push(done);
    const plan = await loaded('steps:\n  a: { run: "head -c 12000000 /dev/zero | tr \'\\\\0\' x | fold -w 100" }\n');
    const runner = executor({ store: await memoryStore() });
    let handle: SessionHandle | undefined;
    const code = driveToEnd(world.context, { title: 't', steps: 1 }, (options) => (handle = runner.run(plan, { ...options, sessionId: 'S' })));
    const result = await (handle as SessionHandle).result;
    expect(result.status).toBe('completed');
    expect(world.stdout.writableLength).toBeLessThan(6 * 1024 * 1024);
    world.stdout.onWrite = undefined;
    writes.shift()?.();
    expect(await code).toBe(0);
    await world.context.out.flushed();
    expect(world.stdout.text).toMatch(/\(\d+ lines of output not shown here/);
  });
});

describe('--json', () => {
  test('stdout has one event a line, in order, and the result last; nothing else', async () => {
    const { lines, code } = await drive('steps:\n  a: { run: "echo noise" }\noutputs: { x: 1 }\n', { json: true });
    expect(code).toBe(0);
    const parsed = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as { seq?: number; type: string });
    const events = parsed.slice(0, -1);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1));
    expect(events.map((event) => event.type)).toEqual(['session_created', 'step_started', 'step_completed', 'session_completed']);
    expect(parsed.at(-1)).toMatchObject({ type: 'result', session_id: 'S', status: 'completed', interrupted: false, outputs: { x: 1 }, exit_code: 0 });
  });
});

describe('Ctrl-C', () => {
  function handleOf(calls: string[], result: Promise<SessionResult>): SessionHandle {
    return {
      session_id: 'S',
      result,
      stop: () => void calls.push('stop'),
      kill: () => void calls.push('kill'),
      async *[Symbol.asyncIterator]() {},
    };
  }

  test('once stops, twice kills, three times leaves; afterwards nothing listens', async () => {
    const world = fakeWorld();
    const calls: string[] = [];
    let end: (result: SessionResult) => void = () => {};
    const result = new Promise<SessionResult>((resolve) => (end = resolve));
    const code = driveToEnd(world.context, { title: 't', steps: 1 }, () => handleOf(calls, result));
    world.signal('SIGINT');
    expect([calls, world.left]).toEqual([['stop'], []]);
    world.signal('SIGTERM');
    expect([calls, world.left]).toEqual([['stop', 'kill'], []]);
    world.signal('SIGHUP');
    expect(world.left).toEqual([130]);
    const counts = { pending: 1, running: 0, retry_wait: 0, waiting_timer: 0, completed: 0, failed: 0, skipped: 0, cancelled: 0 };
    end({ session_id: 'S', status: 'ready', interrupted: true, counts, created_at: 0 });
    expect(await code).toBe(130);
    expect(world.stdout.text).toContain('session S: interrupted');
    expect(world.stdout.text).toContain('plan resume S');
    expect(world.signal('SIGINT')).toBe(0);
    expect(world.stderr.text.split('\n')[0]).toMatch(/^SIGINT: /);
  });

  test('nothing listens either when the drive was refused', async () => {
    const world = fakeWorld();
    const refused = Promise.reject(new Error('no'));
    await expect(driveToEnd(world.context, { title: 't', steps: 1 }, () => handleOf([], refused as Promise<SessionResult>))).rejects.toThrow('no');
    expect(world.signal('SIGINT')).toBe(0);
  });
});
