// Defects of the systems before this one in how a plan is stopped, cancelled and tried again (seed-systems.md, section 5),
// each with the right behaviour. What ran is counted in functions, never read from a status alone.
import { describe, expect, test } from 'vitest';
import { auditSession, PermanentError, TransientError } from '../../src/index.js';
import { executor, fileStore, loaded, memoryStore, recorder, tempDir } from '../support/sessions.js';
import { SimClock } from '../support/sim-clock.js';

describe('D9: a stop is never swallowed', () => {
  test.each([
    ['obeys', (signal: AbortSignal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))],
    ['throws its own error', (signal: AbortSignal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new DOMException('gone', 'AbortError'))))],
    ['returns as if nothing was', (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({ done: true })))],
    ['does not end', (_signal: AbortSignal, late: Promise<void>) => late],
  ])('a function that %s: its dependents do not start, and the plan is not completed', async (name, behave) => {
    const clock = new SimClock();
    const store = await memoryStore();
    const controller = new AbortController();
    let release: () => void = () => undefined;
    const late = new Promise<void>((resolve) => (release = resolve));
    const { functions, calls } = recorder({
      a: (_args, { signal }) => {
        setImmediate(() => controller.abort());
        return behave(signal, late);
      },
    });
    const one = executor({ store, functions, clock });
    const plan = await loaded('steps: { a: { call: { function: a }, kill_grace: 50ms }, b: { needs: [a], call: { function: mark } } }');
    const result = await one.run(plan, { sessionId: 'S', signal: controller.signal }).result;
    expect(result).toMatchObject({ interrupted: true, status: 'ready', counts: { pending: 2 } });
    expect(calls).toEqual(['a']);
    // Nothing was taken for an end: both run when the session goes on.
    const go = recorder();
    const again = () => executor({ store, functions: { ...go.functions, a: () => null } }).resume('S').result;
    // One that still runs here is never joined by a second.
    if (name === 'does not end') expect(await again()).toMatchObject({ status: 'failed', error: { code: 'still_running' } });
    release();
    await new Promise((done) => setImmediate(done));
    expect(await again()).toMatchObject({ status: 'completed' });
    expect(go.calls).toEqual(['b']);
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'gone'],
    ['an AbortError of its own', new DOMException('gone', 'AbortError')],
    ['a plain object', { name: 'BaseException' }],
    ['a frozen error', Object.freeze(new Error('frozen'))],
  ])('%s thrown while nobody asked for a stop is a failure', async (_, thrown) => {
    const { functions, calls } = recorder({
      a: () => {
        throw thrown;
      },
    });
    const plan = await loaded('steps: { a: { call: { function: a } }, b: { needs: [a], call: { function: mark } } }');
    const result = await executor({ store: await memoryStore(), functions }).run(plan).result;
    expect(result).toMatchObject({ status: 'failed', error: { step_id: 'a' }, counts: { failed: 1, skipped: 1 } });
    expect(result.error?.message).not.toBe('');
    expect(calls).toEqual(['a']);
  });
});

describe('D10: a cancel from elsewhere is not lost', () => {
  test('stored by another connection while a step runs, it stops what follows and is the last word', async () => {
    const dir = tempDir();
    const [mine, other] = [await fileStore(dir), await fileStore(dir)];
    const { functions, calls } = recorder({
      slow: async () => {
        // The step does not look at its signal and completes its work all the same.
        await executor({ store: other, functions: {} }).cancel('S', { actor: 'ada', reason: 'wrong day' });
        return null;
      },
    });
    const plan = await loaded('steps: { a: { call: { function: slow } }, b: { needs: [a], call: { function: mark } }, c: { needs: [b], call: { function: mark } } }');
    const result = await executor({ store: mine, functions }).run(plan, { sessionId: 'S' }).result;
    expect(result.status).toBe('cancelled');
    expect(calls).toEqual(['a']);
    const stored = await other.getSession('S');
    expect([stored?.state.status, stored?.cancel?.actor]).toEqual(['cancelled', 'ada']);
    expect((await auditSession(other, 'S')).differences).toEqual([]);
  });

  test('stored between two steps, it is seen before the next one starts', async () => {
    const dir = tempDir();
    const [mine, other] = [await fileStore(dir), await fileStore(dir)];
    const { functions, calls } = recorder();
    // A clock that never wakes the poll: only the start itself can notice.
    const clock = new SimClock();
    const commit = mine.commit.bind(mine);
    mine.commit = async (unit) => {
      const seq = await commit(unit);
      if (unit.changes.some((change) => change.type === 'step_completed' && change.step_id === 'a')) await other.requestCancel('S', { requested_at: clock.now(), actor: 'ada', reason: 'late' });
      return seq;
    };
    // `b` has a value to read, so that its start comes in a later commit than the end of `a`.
    const plan = await loaded('steps: { a: { call: { function: mark } }, w: { needs: [a], wait: { for: 1ms } }, b: { needs: [w], call: { function: mark } } }');
    const result = await clock.until(executor({ store: mine, clock, functions }).run(plan, { sessionId: 'S' }).result);
    expect(result.status).toBe('cancelled');
    expect(calls).toEqual(['a']);
  });

  test.each([['finally', 'steps: { a: { call: { function: mark } } }\nfinally: { z: { call: { function: slow } }, y: { needs: [z], call: { function: mark } } }', ['a', 'z']],
    ['a retry', 'steps: { z: { call: { function: slow }, retry: { max_attempts: 3, retry_on: [any], delay: 1ms } }, y: { needs: [z], call: { function: mark } } }', ['z']],
    ['a whole layer', 'concurrency: 2\nsteps: { z: { call: { function: slow } }, b: { call: { function: mark } }, c: { call: { function: mark } }, d: { needs: [z, b, c], call: { function: mark } } }\nfinally: { y: { call: { function: mark } } }', ['z', 'b', 'y']],
  ])('that refuses the start of a step settles the session all the same: %s', async (_, body, ran) => {
    const dir = tempDir();
    const [mine, other] = [await fileStore(dir), await fileStore(dir)];
    const { functions, calls } = recorder({
      slow: async () => {
        await other.requestCancel('S', { requested_at: 1, actor: 'ada', reason: 'late' });
        if (body.includes('retry_on')) throw new TransientError('busy');
        return null;
      },
    });
    // The clock stands still but for what the test moves, so no poll sees the cancel before the store refuses a start.
    const clock = new SimClock();
    const result = await clock.until(executor({ store: mine, clock, functions }).run(await loaded(body), { sessionId: 'S' }).result);
    expect(result.status).toBe('cancelled');
    expect([...calls].sort()).toEqual([...ran].sort());
    for (const { state } of (await other.loadSteps('S')).values()) expect(['completed', 'cancelled', 'skipped']).toContain(state.status);
    expect((await auditSession(other, 'S')).differences).toEqual([]);
  });

  test('I15: a session that is cancelled before anything started starts nothing', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder();
    const one = executor({ store, functions });
    const handle = one.run(await loaded('steps: { a: { call: { function: mark } } }'), { sessionId: 'S' });
    handle.stop();
    expect((await handle.result).status).toBe('ready');
    expect(await one.cancel('S', { actor: 'ada', reason: 'no' })).toEqual({ outcome: 'ended', status: 'cancelled' });
    expect(calls).toEqual([]);
    expect(await store.getSession('S')).toMatchObject({ state: { status: 'cancelled', error: { class: 'cancelled' } } });
  });
});

describe('D13: attempts survive restarts', () => {
  test('three tries in all, although each one is made by another process', async () => {
    const dir = tempDir();
    const clock = new SimClock();
    const { functions, calls } = recorder({
      bad: () => {
        throw new TransientError('busy');
      },
    });
    const plan = await loaded('steps: { a: { call: { function: bad }, retry: { max_attempts: 3, delay: 1h, max_delay: 1h } } }');
    const statuses: string[] = [];
    for (let start = 0; start < 9; start += 1) {
      const store = await fileStore(dir);
      const one = executor({ store, clock, functions });
      const drive = start === 0 ? one.run(plan, { sessionId: 'S', maxWaitMs: 0 }) : one.resume('S', { maxWaitMs: 0 });
      statuses.push((await drive.result).status);
      await store.close();
      if (statuses.at(-1) === 'failed') break;
      // A start before its time tries nothing.
      if (start % 2 === 1) await clock.advance(3_600_000);
    }
    expect(statuses).toEqual(['retry_wait', 'retry_wait', 'retry_wait', 'retry_wait', 'failed']);
    expect(calls).toHaveLength(3);
  });

  test('interruptions are counted apart and bounded too', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder({ hang: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))) });
    const one = executor({ store, functions });
    const plan = await loaded('steps: { a: { call: { function: hang }, retry: { max_interruptions: 3 } } }');
    let result;
    for (let start = 0; start < 9 && result?.status !== 'dead_letter'; start += 1) {
      const handle = start === 0 ? one.run(plan, { sessionId: 'S' }) : one.resume('S');
      for await (const event of handle) if (event.type === 'step_started') handle.stop();
      result = await handle.result;
    }
    expect(result).toMatchObject({ status: 'dead_letter', error: { step_id: 'a' } });
    expect(calls).toHaveLength(3);
    expect((await store.loadSteps('S')).get('a')?.state).toMatchObject({ attempt: 3, failures: 0, interruptions: 3 });
  });
});

describe('D14: the class of an error comes before the policy', () => {
  test('permanent errors wait for nothing', async () => {
    const clock = new SimClock();
    const start = clock.now();
    const { functions, calls } = recorder({
      bad: () => {
        throw new PermanentError('no such account');
      },
    });
    const plan = await loaded('steps: { a: { call: { function: bad }, retry: { max_attempts: 4, delay: 2s } } }');
    const result = await clock.until(executor({ store: await memoryStore(), clock, functions }).run(plan).result);
    expect(result).toMatchObject({ status: 'failed', error: { class: 'permanent', not_retried: expect.stringContaining('permanent') } });
    expect([calls.length, clock.now() - start]).toEqual([1, 0]);
  });

  test('the default policy of a plan is in force, single keys of it can be replaced, and without one there is one attempt', async () => {
    const clock = new SimClock();
    const bad = () => {
      throw new TransientError('busy');
    };
    const steps = 'on_failure: continue\nsteps:\n  plain: { call: { function: bad } }\n  own: { call: { function: bad }, retry: { max_attempts: 2 } }\n';
    const counts = async (body: string) => {
      const { functions, count } = recorder({ bad });
      await clock.until(executor({ store: await memoryStore(), clock, functions }).run(await loaded(body)).result);
      return [count('plain'), count('own')];
    };
    expect(await counts(steps)).toEqual([1, 2]);
    expect(await counts(`defaults: { retry: { max_attempts: 4, delay: 1s } }\n${steps}`)).toEqual([4, 2]);
  });
});

describe('D15: a timeout says so and is not blindly tried again', () => {
  test('and not at all beside an attempt that cannot be ended', async () => {
    const clock = new SimClock();
    const { functions, calls } = recorder({ hang: () => new Promise(() => undefined) });
    const plan = await loaded('steps: { write: { call: { function: hang }, attempt_timeout: 30s, kill_grace: 0s, retry: { max_attempts: 3, retry_on: [timeout], delay: 1s } } }');
    const result = await clock.until(executor({ store: await memoryStore(), clock, functions }).run(plan).result);
    expect(calls).toEqual(['write']);
    expect(result).toMatchObject({ status: 'failed', error: { class: 'permanent', code: 'still_running' } });
  });

  const run = async (retry: string) => {
    const clock = new SimClock();
    const { functions, calls } = recorder({ hang: (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))) });
    const plan = await loaded(`steps: { write: { call: { function: hang }, attempt_timeout: 30s, kill_grace: 0s${retry} }, next: { needs: [write], call: { function: mark } } }`);
    const result = await clock.until(executor({ store: await memoryStore(), clock, functions }).run(plan).result);
    return { result, calls };
  };

  test.each([
    ['without a policy', '', 1],
    ['when the policy names other classes', ', retry: { max_attempts: 3, retry_on: [transient] }', 1],
    ['when the policy gives up on it', ', retry: { max_attempts: 3, retry_on: [any], give_up_on: [timeout] }', 1],
    ['when the policy names it', ', retry: { max_attempts: 3, retry_on: [timeout], delay: 1s }', 3],
  ])('%s', async (_, retry, attempts) => {
    const { result, calls } = await run(retry);
    expect(calls).toEqual(Array.from({ length: attempts }, () => 'write'));
    expect(result).toMatchObject({ status: 'failed', error: { class: 'timeout', step_id: 'write' } });
    expect(result.error?.message).toMatch(/30(\.0)?s/);
  });
});
