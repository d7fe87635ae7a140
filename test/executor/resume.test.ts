import { describe, expect, test } from 'vitest';
import { auditSession, TransientError } from '../../src/index.js';
import { eventNames, executor, fileStore, loaded, memoryStore, recorder, tempDir } from '../support/sessions.js';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { join } from 'node:path';

describe('resume', () => {
  test('a failed session goes on from its failed step, as often as asked; finished steps stay finished', async () => {
    const store = await memoryStore();
    let go = false;
    const { functions, calls } = recorder({
      va: () => ({ v: 'va' }),
      b: (args) => {
        if (!go) throw new Error('not yet');
        return args;
      },
    });
    const plan = await loaded('steps: { a: { call: { function: va }, outputs: { v: string } }, b: { call: { function: b, args: { v: "${{ steps.a.outputs.v }}" } } } }\noutputs: { v: "${{ steps.b.result.v }}" }');
    const one = executor({ store, functions });
    expect((await one.run(plan, { sessionId: 'S' }).result).status).toBe('failed');
    expect((await one.resume('S').result).status).toBe('failed');
    expect((await one.resume('S').result).status).toBe('failed');
    go = true;
    expect(await one.resume('S').result).toMatchObject({ status: 'completed', outputs: { v: 'va' } });
    expect(calls).toEqual(['a', 'b', 'b', 'b', 'b']);
    expect((await auditSession(store, 'S')).differences).toEqual([]);
    // A completed session has nothing left to do, and says so without touching anything.
    const before = (await eventNames(store, 'S')).length;
    expect((await one.resume('S').result).status).toBe('completed');
    expect((await eventNames(store, 'S')).length).toBe(before);
  });

  test('a session goes on from the file alone, in another store object', async () => {
    const dir = tempDir();
    let go = false;
    const { functions, calls } = recorder({
      b: () => {
        if (!go) throw new Error('not yet');
        return null;
      },
    });
    const first = await openSqliteStore({ path: join(dir, 'plan.db') });
    const plan = await loaded('params: { n: { type: integer } }\nsteps: { a: { call: { function: mark } }, b: { needs: [a], call: { function: b } }, c: { needs: [b], set: { n: "${{ params.n + 1 }}" } } }\noutputs: { n: "${{ steps.c.outputs.n }}" }');
    await executor({ store: first, functions }).run(plan, { sessionId: 'S', params: { n: 41 } }).result;
    await first.close();
    go = true;
    const second = await openSqliteStore({ path: join(dir, 'plan.db') });
    expect(await executor({ store: second, functions }).resume('S').result).toMatchObject({ status: 'completed', outputs: { n: 42 } });
    expect(calls).toEqual(['a', 'b', 'b']);
    await second.close();
  });

  test('the verdict of a condition is kept', async () => {
    const store = await memoryStore();
    let go = false;
    const { functions, calls } = recorder({
      b: () => {
        if (!go) throw new Error('no');
        return null;
      },
    });
    const plan = await loaded('steps: { a: { call: { function: mark } }, b: { needs: [a], if: env.WINDOW == "open", call: { function: b } }, c: { needs: [b], call: { function: mark } } }');
    await executor({ store, functions, hostEnv: { WINDOW: 'open' } }).run(plan, { sessionId: 'S' }).result;
    go = true;
    expect((await executor({ store, functions, hostEnv: { WINDOW: 'shut' } }).resume('S').result).status).toBe('completed');
    expect(calls).toEqual(['a', 'b', 'b', 'c']);
  });

  test('stop leaves a session resumable: the interrupted step runs again, its interruption is charged, its failures are not', async () => {
    const store = await fileStore();
    let hang = true;
    const { functions, calls } = recorder({
      slow: (_, { signal }) =>
        hang
          ? new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('told to stop')), { once: true });
              handle.stop();
            })
          : 'done',
    });
    const plan = await loaded('steps: { a: { call: { function: mark } }, b: { needs: [a], call: { function: slow } }, c: { needs: [b], call: { function: mark } } }\nfinally: { z: { call: { function: mark } } }');
    const one = executor({ store, functions });
    const handle = one.run(plan, { sessionId: 'S' });
    expect(await handle.result).toMatchObject({ status: 'ready', interrupted: true, counts: { completed: 1, pending: 3 } });
    expect((await store.loadSteps('S')).get('b')?.state).toMatchObject({ status: 'pending', attempt: 1, failures: 0, interruptions: 1 });
    hang = false;
    expect((await one.resume('S').result).status).toBe('completed');
    expect(calls).toEqual(['a', 'b', 'b', 'c', 'z']);
    expect((await store.loadSteps('S')).get('b')?.state).toMatchObject({ status: 'completed', attempt: 2, failures: 0, interruptions: 1 });
    expect((await auditSession(store, 'S')).differences).toEqual([]);
  });

  test('a step interrupted too often makes the session a dead letter, and retry takes it out', async () => {
    const store = await memoryStore();
    let hang = true;
    let handle = undefined as { stop(): void } | undefined;
    const { functions, calls } = recorder({
      slow: (_, { signal }) =>
        hang
          ? new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('told to stop')), { once: true });
              setImmediate(() => handle?.stop());
            })
          : 'done',
    });
    const one = executor({ store, functions });
    const plan = await loaded('steps: { a: { call: { function: slow }, retry: { max_interruptions: 2 } } }');
    const drive = async (next: ReturnType<typeof one.run>) => ((handle = next), await next.result);
    await drive(one.run(plan, { sessionId: 'S' }));
    await drive(one.resume('S'));
    expect(await drive(one.resume('S'))).toMatchObject({ status: 'dead_letter', error: { step_id: 'a', message: expect.stringContaining('2 times') } });
    expect(calls.length).toBe(2);
    await expect(one.resume('S').result).rejects.toMatchObject({ code: 'session_ended' });
    hang = false;
    expect((await one.retry('S').result).status).toBe('completed');
    expect((await store.loadSteps('S')).get('a')?.state).toMatchObject({ generation: 2, attempt: 1, interruptions: 0 });
  });

  test('two drives of one session: one works, the other is told who holds it', async () => {
    const store = await memoryStore();
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { functions, count } = recorder({ slow: () => gate.then(() => null) });
    const one = executor({ store, functions });
    const first = one.run(await loaded('steps: { a: { call: { function: slow } } }'), { sessionId: 'S' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await expect(one.resume('S').result).rejects.toMatchObject({ name: 'SessionHeldError', message: expect.stringContaining(`process ${process.pid}`) });
    release();
    expect((await first.result).status).toBe('completed');
    expect(count('a')).toBe(1);
  });
});

describe('retry', () => {
  test('runs failed steps and their descendants again, in a new generation, and no others', async () => {
    const store = await memoryStore();
    let go = false;
    const { functions, calls } = recorder({
      bad: () => {
        if (!go) throw new TransientError('no');
        return null;
      },
    });
    const plan = await loaded(`
on_failure: continue
steps:
  a: { call: { function: mark } }
  bad: { needs: [a], call: { function: bad } }
  after: { needs: [bad], call: { function: mark } }
  cleanup: { needs: [bad], after: failure, call: { function: mark } }
  other: { call: { function: mark } }
`);
    const one = executor({ store, functions });
    await one.run(plan, { sessionId: 'S' }).result;
    expect(calls.sort()).toEqual(['a', 'bad', 'cleanup', 'other']);
    calls.length = 0;
    go = true;
    const result = await one.retry('S').result;
    expect(result).toMatchObject({ status: 'completed', counts: { completed: 4, skipped: 1 } });
    expect(calls).toEqual(['bad', 'after']);
    const states = await store.loadSteps('S');
    expect(states.get('bad')?.state).toMatchObject({ generation: 2, attempt: 1, failures: 0 });
    expect(states.get('other')?.state).toMatchObject({ generation: 1 });
    await expect(one.retry('S').result).rejects.toMatchObject({ code: 'session_ended' });
    expect((await auditSession(store, 'S')).differences).toEqual([]);
  });

  test('a condition is decided anew behind a step that runs again, and in finally', async () => {
    const store = await memoryStore();
    let round = 0;
    const { functions, calls } = recorder({
      count: () => ({ n: (round += 1) }),
      bad: () => {
        throw new Error('no');
      },
    });
    const plan = await loaded(`
steps:
  a: { call: { function: count }, outputs: { n: integer } }
  b: { if: steps.a.outputs.n == 1, call: { function: bad } }
finally:
  alarm: { if: session.status == "failed", call: { function: mark } }
`);
    const one = executor({ store, functions });
    expect((await one.run(plan, { sessionId: 'S' }).result).status).toBe('failed');
    expect(calls).toEqual(['a', 'b', 'alarm']);
    calls.length = 0;
    expect(await one.retry('S', { from: ['a'] }).result).toMatchObject({ status: 'completed', counts: { completed: 1, skipped: 2 } });
    expect(calls).toEqual(['a']);
  });

  test('--from runs a named step again with what depends on it; unknown names are refused', async () => {
    const store = await memoryStore();
    let go = false;
    const { functions, calls } = recorder({
      bad: () => {
        if (!go) throw new Error('no');
        return null;
      },
    });
    const one = executor({ store, functions });
    await one.run(await loaded('steps: { a: { call: { function: mark } }, b: { needs: [a], call: { function: mark } }, bad: { needs: [b], call: { function: bad } } }'), { sessionId: 'S' }).result;
    calls.length = 0;
    go = true;
    await expect(one.retry('S', { from: ['bb'] }).result).rejects.toMatchObject({ code: 'unknown_step' });
    expect((await one.retry('S', { from: ['b'] }).result).status).toBe('completed');
    expect(calls).toEqual(['b', 'bad']);
  });
});

describe('cancel', () => {
  test('while steps run: they are ended and cancelled, queued ones never start, finally runs, and nothing takes it back', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder({
      slow: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
          void one.cancel('S', { actor: 'ada', reason: 'wrong file' });
        }),
    });
    const one = executor({ store, functions });
    const plan = await loaded('concurrency: 1\nsteps: { a: { call: { function: slow }, retry: { max_attempts: 5 } }, b: { call: { function: mark } }, c: { needs: [a], call: { function: mark } } }\nfinally: { z: { call: { function: mark } } }');
    const result = await one.run(plan, { sessionId: 'S' }).result;
    expect(result).toMatchObject({ status: 'cancelled', counts: { cancelled: 3, completed: 1 } });
    expect(calls).toEqual(['a', 'z']);
    await expect(one.resume('S').result).rejects.toMatchObject({ code: 'session_ended', message: expect.stringContaining('executor.retry("S")') });
    await expect(one.cancel('S', { actor: 'x', reason: '' })).rejects.toMatchObject({ code: 'session_ended' });
    expect((await auditSession(store, 'S')).differences).toEqual([]);
  });

  test('a session that nobody drives is ended by the cancel itself', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder();
    const one = executor({ store, functions });
    const left = await one.run(await loaded('steps: { w: { wait: { for: 2d } }, a: { needs: [w], call: { function: mark } } }\nfinally: { z: { call: { function: mark } } }'), { sessionId: 'S', maxWaitMs: 0 }).result;
    expect(left.status).toBe('waiting_timer');
    expect(await one.cancel('S', { actor: 'ada', reason: 'no more' })).toEqual({ outcome: 'ended', status: 'cancelled' });
    expect(calls).toEqual(['z']);
  });

  test('during a retry wait it takes effect at once', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder({
      bad: () => {
        setImmediate(() => void one.cancel('S', { actor: 'ada', reason: 'enough' }));
        throw new TransientError('no');
      },
    });
    const one = executor({ store, functions });
    const started = Date.now();
    const result = await one.run(await loaded('steps: { a: { call: { function: bad }, retry: { max_attempts: 5, delay: 1h, max_delay: 1h } } }'), { sessionId: 'S' }).result;
    expect(result.status).toBe('cancelled');
    expect(Date.now() - started).toBeLessThan(2000);
    expect(calls.length).toBe(1);
  });
});
