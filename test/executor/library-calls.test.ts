// What a program that embeds the executor is told, and in whose words.
import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { loadPlan, PermanentError, type OutputLine } from '../../src/index.js';
import { lifeOf } from '../../src/executor/drive-holder.js';
import { processIdentity } from '../../src/process/identity.js';
import { readProcess } from '../../src/process/process-table.js';
import { executor, fileStore, loaded, memoryStore, recorder } from '../support/sessions.js';

describe('a call that makes no sense is a UsageError that says what to pass', () => {
  test.each<[string, (one: ReturnType<typeof executor>) => Promise<unknown>, RegExp]>([
    ['run(undefined)', (one) => one.run(undefined as never).result, /executor\.run expects the result of loadPlan, found undefined/],
    ['run("plan.yaml")', (one) => one.run('plan.yaml' as never).result, /expects the result of loadPlan, found string "plan\.yaml"/],
    ['run({})', (one) => one.run({} as never).result, /\{ ok: true, plan, source, file, base_dir \}\), found an object with no members/],
    ['run(plan, null)', async (one) => one.run(await loaded('steps: { a: { set: { x: 1 } } }'), null as never).result, /options as an object, found null/],
    ['run(plan, { params: [] })', async (one) => one.run(await loaded('steps: { a: { set: { x: 1 } } }'), { params: [] as never }).result, /options\.params as an object, found a list/],
    ['run(plan, { signal: 1 })', async (one) => one.run(await loaded('steps: { a: { set: { x: 1 } } }'), { signal: 1 as never }).result, /options\.signal as an AbortSignal/],
    ['resume(undefined)', (one) => one.resume(undefined as never).result, /executor\.resume expects the id of a session, a text, found undefined/],
    ['retry({})', (one) => one.retry({} as never).result, /executor\.retry expects the id of a session/],
    ['cancel("S")', (one) => one.cancel('S', undefined as never), /executor\.cancel expects \{ actor, reason \} as the second argument.*found undefined/],
    ['cancel("S", { actor })', (one) => one.cancel('S', { actor: 'me' } as never), /found an object with actor/],
  ])('%s', async (_, call, message) => {
    const store = await memoryStore();
    await expect(call(executor({ store }))).rejects.toMatchObject({ name: 'UsageError', code: 'bad_call', message: expect.stringMatching(message) as unknown });
    expect(await store.listSessions()).toEqual([]);
  });

  test('run with a plan that has problems names the first', async () => {
    const bad = await loadPlan({ source: 'plan: 1\nname: x\nsteps: {}\n' });
    expect(bad.ok).toBe(false);
    await expect(executor({ store: await memoryStore() }).run(bad as never).result).rejects.toThrow(/whose `ok` is false \(.+\); look at its `problems` first/);
  });
});

test('many calls and many sessions under one signal give no warning, and all of them stop', async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.name);
  process.on('warning', onWarning);
  const { functions, calls } = recorder({ hang: (_, { signal }) => new Promise((_done, reject) => signal.addEventListener('abort', () => reject(new Error('ended')), { once: true })) });
  const store = await memoryStore();
  const one = executor({ store, functions });
  const stop = new AbortController();
  const many = Array.from({ length: 15 }, (_, i) => `s${i}: { call: { function: hang } }`).join(', ');
  const plan = await loaded(`concurrency: 20\nsteps: { ${many} }`);
  const handles = Array.from({ length: 15 }, () => one.run(plan, { signal: stop.signal }));
  await expect.poll(() => calls.length).toBe(225);
  stop.abort();
  for (const handle of handles) expect((await handle.result).interrupted).toBe(true);
  await new Promise((done) => setImmediate(done));
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

test('errors of a store in memory name calls, those of a file name commands', async () => {
  const memory = executor({ store: await memoryStore() });
  await expect(memory.resume('S').result).rejects.toThrow('store.listSessions()');
  await expect(memory.cancel('S', { actor: 'a', reason: 'r' })).rejects.toThrow('store.listSessions()');
  await memory.run(await loaded('steps: { a: { check: "1 == 2" } }'), { sessionId: 'S' }).result;
  await memory.run(await loaded('steps: { a: { set: { x: 1 } } }'), { sessionId: 'T' }).result;
  await expect(memory.retry('T').result).rejects.toThrow('executor.run(plan)');
  const file = executor({ store: await fileStore() });
  await expect(file.resume('S').result).rejects.toThrow('plan list');
});

test('a permanent error says why it was not tried again', async () => {
  const { functions } = recorder({ bad: () => { throw new PermanentError('no such user'); } });
  const result = await executor({ store: await memoryStore(), functions }).run(await loaded('steps: { a: { call: { function: bad }, retry: { max_attempts: 3 } } }')).result;
  expect(result.error?.not_retried).toBe('not retried: the error is permanent, which another attempt does not mend');
});

test('a line of output says which stream it came from only where that is known', async () => {
  const lines: OutputLine[] = [];
  const plan = await loaded('steps: { a: { run: "echo one; echo two >&2" }, b: { run: "echo kept; echo told >&2", stdout: text } }');
  await executor({ store: await memoryStore() }).run(plan, { onOutput: (line) => lines.push(line) }).result;
  const told = (id: string) => lines.filter((line) => line.step_id === id).map(({ stream, line }) => `${stream} ${line}`);
  expect(told('a')).toEqual(['output one', 'output two']);
  expect(told('b')).toEqual(['stderr told']);
});

test('a session whose driver is stopped says so, with what lets it go on; when the lease is over it can be taken', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const pid = child.pid as number;
  child.kill('SIGSTOP');
  const holder = { ...processIdentity(), token: 't', pid, process_start: readProcess(pid)?.start ?? '' };
  await expect.poll(() => lifeOf(holder)).toBe('stopped');
  const store = await fileStore();
  const one = executor({ store });
  await one.run(await loaded('steps: { w: { wait: { for: 1h } } }'), { sessionId: 'S', maxWaitMs: 0 }).result;
  const now = Date.now();
  await store.acquireLease({ session_id: 'S', holder, now, expires_at: now + 15_000 });
  await expect(one.resume('S', { maxWaitMs: 0 }).result).rejects.toMatchObject({
    name: 'SessionHeldError',
    message: expect.stringMatching(new RegExp(`process ${pid} .*is stopped .*kill -CONT ${pid}.*lease ends in \\d+s`)) as unknown,
  });
  const answer = await store.getSession('S');
  await store.renewLease(answer?.lease as never, now - 1);
  expect((await one.resume('S', { maxWaitMs: 0 }).result).status).toBe('waiting_timer');
  child.kill('SIGKILL');
});
