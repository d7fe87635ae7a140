import { describe, expect, test } from 'vitest';
import { PermanentError, TransientError, type AnyAction } from '../../src/index.js';
import { SimClock } from '../support/sim-clock.js';
import { eventNames, executor, loaded, memoryStore, recorder } from '../support/sessions.js';

const thrower = (make: () => Error) => () => {
  throw make();
};

describe('retries', () => {
  test('a transient failure is tried max_attempts times in all, with growing waits', async () => {
    const clock = new SimClock();
    const times: number[] = [];
    const bad = () => {
      times.push(clock.now());
      throw new TransientError('busy');
    };
    const store = await memoryStore();
    const plan = await loaded('steps: { a: { call: { function: bad }, retry: { max_attempts: 4, delay: 1s, jitter: false } } }');
    const result = await clock.until(executor({ store, clock, functions: { bad } }).run(plan, { sessionId: 'S' }).result);
    expect(times.slice(1).map((at, i) => at - (times[i] as number))).toEqual([1000, 2000, 4000]);
    expect(result).toMatchObject({ status: 'failed', error: { not_retried: 'not retried: 4 of 4 attempts failed' } });
    expect((await store.loadSteps('S')).get('a')?.state).toMatchObject({ attempt: 4, failures: 4, interruptions: 0 });
  });

  test('a permanent failure is not retried, nor one that give_up_on names', async () => {
    const clock = new SimClock();
    const { functions, calls, count } = recorder({ perm: thrower(() => new PermanentError('bad id')), type: thrower(() => new TypeError('x is not a function')) });
    const plan = await loaded(`
on_failure: continue
steps:
  perm: { call: { function: perm }, retry: { max_attempts: 5 } }
  bug: { call: { function: type }, retry: { max_attempts: 5 } }
`);
    const result = await clock.until(executor({ store: await memoryStore(), clock, functions }).run(plan).result);
    expect(result.status).toBe('failed');
    expect([calls.length, count('perm'), count('bug')]).toEqual([2, 1, 1]);
  });

  test('what the target asks for by retryAfterMs is waited for, and never undercuts the own delay', async () => {
    const clock = new SimClock();
    const times: number[] = [];
    const bad = () => {
      times.push(clock.now());
      throw new TransientError('busy', { retryAfterMs: times.length === 1 ? 9000 : 10 });
    };
    const plan = await loaded('steps: { a: { call: { function: bad }, retry: { max_attempts: 3, delay: 2s, backoff: constant } } }');
    await clock.until(executor({ store: await memoryStore(), clock, functions: { bad } }).run(plan).result);
    expect((times[1] as number) - (times[0] as number)).toBe(9000);
    expect((times[2] as number) - (times[1] as number)).toBeGreaterThanOrEqual(2000);
  });

  test('success after a failure leaves no trace of failure in the state', async () => {
    const clock = new SimClock();
    let tries = 0;
    const flaky = () => {
      if ((tries += 1) < 3) throw new TransientError('busy');
      return tries;
    };
    const store = await memoryStore();
    const plan = await loaded('steps: { a: { call: { function: flaky }, retry: { max_attempts: 3 } } }');
    const result = await clock.until(executor({ store, clock, functions: { flaky } }).run(plan, { sessionId: 'S' }).result);
    expect(result.status).toBe('completed');
    const state = (await store.loadSteps('S')).get('a')?.state;
    expect(state).toMatchObject({ status: 'completed', attempt: 3, failures: 2, interruptions: 0 });
    expect(state).not.toHaveProperty('error');
  });
});

describe('time limits', () => {
  const hang = (_: unknown, context: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => context.signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));

  test('attempt_timeout ends one try and counts as a timeout, which is retried', async () => {
    const clock = new SimClock();
    const { functions, calls } = recorder({ hang: hang as never });
    const plan = await loaded('steps: { a: { call: { function: hang }, attempt_timeout: 10s, retry: { max_attempts: 2, delay: 1s } } }');
    const result = await clock.until(executor({ store: await memoryStore(), clock, functions }).run(plan).result);
    expect(result).toMatchObject({ status: 'failed', error: { class: 'timeout', message: expect.stringMatching(/10(\.0)?s/) } });
    expect(calls.length).toBe(2);
  });

  test('a step that its own limit is ending when the deadline of the session passes is not tried again', async () => {
    const clock = new SimClock();
    const { functions, count } = recorder({ deaf: () => new Promise(() => undefined) });
    const plan = await loaded('timeout: 4s\nsteps: { a: { call: { function: deaf }, attempt_timeout: 3s, kill_grace: 1ms, retry: { max_attempts: 3, delay: 1s } } }');
    const deaf: AnyAction = { kind: 'call', execute: (_, { signal, clock: time }) => (functions['deaf']?.(null, { step_id: 'a' } as never), new Promise((_resolve, reject) => signal.addEventListener('abort', () => void time.sleep(3000).then(() => reject(new TransientError('late')))))) };
    const result = await clock.until(executor({ store: await memoryStore(), clock, actions: [deaf], functions }).run(plan).result);
    expect(result).toMatchObject({ status: 'expired', counts: { cancelled: 1 } });
    expect(count('a')).toBe(1);
  });

  test('an action that never settles does not hold the session for ever', async () => {
    const clock = new SimClock();
    const deaf: AnyAction = { kind: 'call', execute: () => new Promise(() => undefined) };
    const plan = await loaded('steps: { a: { call: { function: x }, attempt_timeout: 10s, kill_grace: 1s } }');
    const result = await clock.until(executor({ store: await memoryStore(), clock, actions: [deaf], functions: { x: () => null } }).run(plan).result);
    expect(result).toMatchObject({ status: 'failed', error: { class: 'permanent', code: 'still_running', step_id: 'a' } });
  });

  test('timeout bounds the step with its retries', async () => {
    const clock = new SimClock();
    const start = clock.now();
    const { functions } = recorder({ hang: hang as never });
    const plan = await loaded('steps: { a: { call: { function: hang }, attempt_timeout: 10s, timeout: 25s, retry: { max_attempts: 9, delay: 1s, jitter: false } } }');
    const result = await clock.until(executor({ store: await memoryStore(), clock, functions }).run(plan).result);
    expect(result.status).toBe('failed');
    expect(clock.now() - start).toBeLessThanOrEqual(26_000);
  });

  test('the deadline of the session ends what runs, starts nothing more, and still runs finally', async () => {
    const clock = new SimClock();
    const { functions, calls } = recorder({ hang: hang as never });
    const store = await memoryStore();
    const plan = await loaded(`
timeout: 1m
steps:
  a: { call: { function: hang } }
  b: { needs: [a], call: { function: mark } }
finally: { z: { call: { function: mark } } }
`);
    const result = await clock.until(executor({ store, clock, functions }).run(plan, { sessionId: 'S' }).result);
    expect(result).toMatchObject({ status: 'expired', error: { class: 'timeout' }, counts: { cancelled: 2, completed: 1 } });
    expect(calls).toEqual(['a', 'z']);
    await expect(executor({ store, clock, functions }).resume('S').result).rejects.toMatchObject({ code: 'session_ended', message: expect.stringContaining('executor.retry') });
  });
});

describe('budget', () => {
  test('attempts are bounded over the whole session; a paused session goes on with more', async () => {
    const clock = new SimClock();
    const { functions, calls } = recorder();
    const store = await memoryStore();
    const plan = await loaded('budget: { attempts: 2 }\nsteps: { a: { call: { function: mark } }, b: { needs: [a], call: { function: mark } }, c: { needs: [b], call: { function: mark } } }');
    const one = executor({ store, clock, functions });
    expect(await clock.until(one.run(plan, { sessionId: 'S' }).result)).toMatchObject({ status: 'paused_budget', counts: { completed: 2, pending: 1 } });
    expect(await clock.until(one.resume('S').result)).toMatchObject({ status: 'paused_budget' });
    expect(calls).toEqual(['a', 'b']);
    expect(await clock.until(one.resume('S', { addBudget: { attempts: 1 } }).result)).toMatchObject({ status: 'completed' });
    expect(calls).toEqual(['a', 'b', 'c']);
  });
});

describe('waiting', () => {
  test('a wait holds no worker, keeps its end over a resume, and the driver may leave', async () => {
    const clock = new SimClock();
    const start = clock.now();
    const { functions, calls } = recorder();
    const store = await memoryStore();
    const plan = await loaded('concurrency: 1\nsteps: { w: { wait: { for: 4m } }, a: { call: { function: mark } }, b: { needs: [w], call: { function: mark } } }');
    const one = executor({ store, clock, functions });
    const left = await clock.until(one.run(plan, { sessionId: 'S', maxWaitMs: 60_000 }).result);
    expect(left).toMatchObject({ status: 'waiting_timer', wake_at: start + 240_000 });
    expect(calls).toEqual(['a']);
    await clock.advance(120_000);
    const result = await clock.until(one.resume('S').result);
    expect(result.status).toBe('completed');
    expect(clock.now() - start).toBeGreaterThanOrEqual(240_000);
    expect(clock.now() - start).toBeLessThan(250_000);
    expect(calls).toEqual(['a', 'b']);
    expect((await eventNames(store, 'S')).filter((name) => name === 'step_started w').length).toBe(1);
  });
});
