import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { auditSession, TransientError } from '../../src/index.js';
import { eventNames, executor, loaded, memoryStore, recorder } from '../support/sessions.js';

describe('a run', () => {
  test('runs every step once, after what it needs, and gives typed outputs', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder({ three: () => ({ n: 3 }), double: (args) => ({ n: (args as { n: number }).n * 2 }) });
    const plan = await loaded(`
params: { who: { type: string, default: you } }
steps:
  double: { call: { function: double, args: { n: "\${{ steps.three.outputs.n }}" } }, outputs: { n: integer } }
  three: { call: { function: three }, outputs: { n: integer } }
  text: { set: { greeting: "hello \${{ params.who }} \${{ steps.double.outputs.n }}" } }
outputs: { greeting: "\${{ steps.text.outputs.greeting }}", n: "\${{ steps.double.outputs.n + 0.5 }}" }
`);
    const result = await executor({ store, functions }).run(plan, { sessionId: 'S', params: { who: 'ada' } }).result;
    expect(result).toMatchObject({ status: 'completed', outputs: { greeting: 'hello ada 6', n: 6.5 }, counts: { completed: 3 } });
    expect(calls).toEqual(['three', 'double']);
    expect((await auditSession(store, 'S')).differences).toEqual([]);
  });

  test('never runs more steps at once than concurrency allows', async () => {
    let now = 0;
    let most = 0;
    const slow = async () => {
      most = Math.max(most, (now += 1));
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return null;
    };
    const steps = Array.from({ length: 20 }, (_, i) => `  s${i}: { call: { function: slow } }`).join('\n');
    const result = await executor({ store: await memoryStore(), functions: { slow } }).run(await loaded(`concurrency: 3\nsteps:\n${steps}`)).result;
    expect(result.counts.completed).toBe(20);
    expect(most).toBe(3);
  });

  test('more than fifty steps are nothing special', async () => {
    const { functions, calls } = recorder();
    const steps = Array.from({ length: 60 }, (_, i) => `  s${i}: { ${i > 0 ? `needs: [s${i - 1}], ` : ''}call: { function: mark } }`).join('\n');
    const result = await executor({ store: await memoryStore(), functions }).run(await loaded(`steps:\n${steps}`)).result;
    expect([result.status, calls.length]).toEqual(['completed', 60]);
  });

  test('a failure ends the session as failed with the root cause, and what depends on it never starts', async () => {
    const { functions, calls } = recorder({
      bad: () => {
        throw new Error('the disk is on fire');
      },
    });
    const result = await executor({ store: await memoryStore(), functions }).run(
      await loaded(`
steps:
  bad: { call: { function: bad } }
  gate: { needs: [bad], call: { function: mark } }
  deploy: { needs: [gate], call: { function: mark } }
  always: { needs: [deploy], after: any, call: { function: mark } }
  handler: { needs: [deploy], after: failure, call: { function: mark } }
`),
    ).result;
    expect(result).toMatchObject({ status: 'failed', error: { step_id: 'bad', message: expect.stringContaining('the disk is on fire') } });
    expect(calls.sort()).toEqual(['always', 'bad', 'handler']);
  });

  test('a tolerated failure fails neither what needs it nor the session', async () => {
    const { functions, calls } = recorder({
      bad: () => {
        throw new Error('no');
      },
    });
    const result = await executor({ store: await memoryStore(), functions }).run(
      await loaded(`
steps:
  bad: { call: { function: bad }, continue_on_error: true }
  next: { needs: [bad], call: { function: mark } }
  told: { needs: [bad], set: { was: "\${{ steps.bad.status }}" } }
outputs: { was: "\${{ steps.told.outputs.was }}" }
`),
    ).result;
    expect(result).toMatchObject({ status: 'completed', outputs: { was: 'failed' } });
    expect(calls).toEqual(['bad', 'next']);
  });

  test('a skipped step is final: its dependents are skipped, and the run ends', async () => {
    const { functions, calls } = recorder();
    const result = await executor({ store: await memoryStore(), functions }).run(
      await loaded(`
params: { go: { type: boolean, default: false } }
steps:
  maybe: { if: params.go, call: { function: mark } }
  use: { needs: [maybe], call: { function: mark } }
  anyway: { needs: [use], after: any, call: { function: mark } }
`),
    ).result;
    expect(result).toMatchObject({ status: 'completed', counts: { skipped: 2, completed: 1 } });
    expect(calls).toEqual(['anyway']);
  });

  test('finally steps run after a failure and know how the steps ended', async () => {
    const seen: unknown[] = [];
    const { functions } = recorder({
      bad: () => {
        throw new Error('no');
      },
      tell: (args) => {
        seen.push(args);
        return null;
      },
    });
    const result = await executor({ store: await memoryStore(), functions }).run(
      await loaded(`
steps: { bad: { call: { function: bad } } }
finally: { tell: { call: { function: tell, args: { status: "\${{ session.status }}" } } } }
`),
    ).result;
    expect([result.status, seen]).toEqual(['failed', [{ status: 'failed' }]]);
  });

  test('a failing finally step fails a session whose steps completed', async () => {
    const { functions } = recorder({
      bad: () => {
        throw new Error('cannot clean up');
      },
    });
    const plan = await loaded('steps: { a: { call: { function: mark } } }\nfinally: { z: { call: { function: bad } } }');
    const result = await executor({ store: await memoryStore(), functions }).run(plan).result;
    expect(result).toMatchObject({ status: 'failed', error: { step_id: 'z' } });
  });

  test('a result that is not JSON is refused at the step, and names where', async () => {
    const result = await executor({ store: await memoryStore(), functions: { date: () => ({ at: [new Date()] }) } }).run(
      await loaded('steps: { a: { call: { function: date }, retry: { max_attempts: 3 } } }'),
    ).result;
    expect(result).toMatchObject({ status: 'failed', error: { class: 'permanent', message: expect.stringContaining('at[0]') } });
  });

  test('a value that looks like a reference stays data', async () => {
    const plan = await loaded(`
steps:
  a: { call: { function: give } }
  b: { set: { v: "\${{ steps.a.result }}" } }
outputs: { v: "\${{ steps.b.outputs.v }}" }
`);
    const odd = { step_id: 'a', path: '', text: '${{ steps.a.status }}', in: 'blob', digest: 'x' };
    const result = await executor({ store: await memoryStore(), functions: { give: () => odd } }).run(plan).result;
    expect(result.outputs).toEqual({ v: odd });
  });

  test('large values go through blobs and come back whole', async () => {
    const store = await memoryStore();
    const text = 'ä"\\'.repeat(20_000);
    const plan = await loaded('steps:\n  a: { call: { function: give } }\n  b: { set: { n: "${{ size(steps.a.result) }}" } }\noutputs: { n: "${{ steps.b.outputs.n }}" }');
    const result = await executor({ store, functions: { give: () => text } }).run(plan, { sessionId: 'S' }).result;
    expect(result.outputs).toEqual({ n: 60_000 });
    const state = (await store.loadSteps('S')).get('a')?.state;
    expect(state).toMatchObject({ status: 'completed', output: { in: 'blob' } });
  });

  test('events come in order, numbered without gaps, to whoever iterates', async () => {
    const store = await memoryStore();
    const { functions } = recorder();
    const handle = executor({ store, functions }).run(await loaded('steps: { a: { call: { function: mark } }, b: { needs: [a], call: { function: mark } } }'));
    const seen: string[] = [];
    let last = 0;
    for await (const event of handle) {
      expect(event.seq).toBe((last += 1));
      seen.push(event.type);
    }
    expect(seen[0]).toBe('session_created');
    expect(seen.at(-1)).toBe('session_completed');
    expect((await eventNames(store, handle.session_id)).filter((name) => name.startsWith('step_'))).toEqual([
      'step_started a',
      'step_completed a',
      'step_started b',
      'step_completed b',
    ]);
  });

  test('many sessions at once share one store and one executor', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder();
    const plan = await loaded('steps: { a: { call: { function: mark } }, b: { needs: [a], call: { function: mark } } }');
    const one = executor({ store, functions });
    const results = await Promise.all(Array.from({ length: 50 }, (_, i) => one.run(plan, { sessionId: `S${i}` }).result));
    expect(results.every((result) => result.status === 'completed')).toBe(true);
    expect(calls.length).toBe(100);
  });

  test('eager and per_layer: a retry wait is saved together with the ends that it builds on', async () => {
    const store = await memoryStore();
    let hold = () => {};
    const held = new Promise<null>((resolve) => (hold = () => resolve(null)));
    const flaky = () => {
      throw new TransientError('busy');
    };
    const plan = await loaded('scheduling: eager\ncheckpoint_interval: per_layer\nsteps:\n  slow: { call: { function: slow } }\n  a: { call: { function: mark } }\n  b: { needs: [a], call: { function: flaky }, retry: { max_attempts: 2, delay: 1h } }');
    const handle = executor({ store, functions: { slow: () => held, mark: () => null, flaky } }).run(plan, { sessionId: 'S' });
    for await (const event of handle) if (event.type === 'step_retry_scheduled') break;
    // What a crash here would leave: the wait never stands without the end of its need.
    expect((await store.loadSteps('S')).get('a')?.state.status).toBe('completed');
    handle.stop();
    hold();
    await handle.result;
  });

  test('a session that ends does not end the processes of a session of the same name in another store', async () => {
    const plan = (script: string) => loaded(`steps: { a: { run: "${script}" } }`);
    const slow = executor({ store: await memoryStore() }).run(await plan('sleep 1.5'), { sessionId: 'S' });
    await executor({ store: await memoryStore() }).run(await plan('sleep 0.3'), { sessionId: 'S' }).result;
    expect((await slow.result).status).toBe('completed');
  });

  test('one listener on the host signal, and none left behind', async () => {
    const controller = new AbortController();
    const { functions } = recorder();
    const steps = Array.from({ length: 60 }, (_, i) => `  s${i}: { call: { function: mark } }`).join('\n');
    const plan = await loaded(`steps:\n${steps}`);
    const store = await memoryStore();
    for (let i = 0; i < 3; i += 1) {
      const handle = executor({ store, functions }).run(plan, { signal: controller.signal });
      expect(getEventListeners(controller.signal, 'abort').length).toBe(1);
      await handle.result;
    }
    expect(getEventListeners(controller.signal, 'abort').length).toBe(0);
  });

  test('a function that is not registered is said before anything runs, also at a resume', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder();
    const plan = await loaded('steps: { a: { call: { function: mark } }, b: { needs: [a], call: { function: marc } }, w: { needs: [b], wait: { for: 1h } } }');
    const refusal = { code: 'unknown_function', message: expect.stringContaining('"marc" (called by b; did you mean "mark"?)') };
    await expect(executor({ store, functions }).run(plan, { sessionId: 'S' }).result).rejects.toMatchObject(refusal);
    expect(await store.listSessions()).toEqual([]);
    expect(calls).toEqual([]);
    const late = await loaded('steps: { w: { wait: { for: 1h } }, b: { needs: [w], call: { function: mark } } }');
    expect(await executor({ store, functions }).run(late, { sessionId: 'T', maxWaitMs: 0 }).result).toMatchObject({ status: 'waiting_timer' });
    const { state } = (await store.getSession('T')) as { state: object };
    await expect(executor({ store, functions: {} }).resume('T').result).rejects.toMatchObject({ code: 'unknown_function' });
    expect((await store.getSession('T'))?.state).toEqual(state);
    const own = executor({ store, functions: {}, actions: [{ kind: 'call', execute: async () => ({ kind: 'completed', output: { outputs: {}, result: 1 } }) }] });
    expect(await own.run(await loaded('steps: { a: { call: { function: mine } } }')).result).toMatchObject({ status: 'completed' });
  });

  test('what a user got wrong is said before anything runs', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder();
    const plan = await loaded('params: { n: { type: integer } }\nsecrets: [TOKEN]\nsteps: { a: { call: { function: mark, args: { t: "${{ secrets.TOKEN }}", n: "${{ params.n }}" } } } }');
    const one = executor({ store, functions, secrets: () => undefined });
    await expect(one.run(plan, { sessionId: '../../T' }).result).rejects.toMatchObject({ code: 'bad_session_id' });
    await expect(one.run(plan, { sessionId: 'S' }).result).rejects.toMatchObject({ code: 'invalid_params' });
    await expect(one.run(plan, { sessionId: 'S', params: { n: 1 } }).result).rejects.toMatchObject({ code: 'missing_secrets', message: expect.stringContaining('TOKEN') });
    expect(calls).toEqual([]);
    expect(await store.listSessions()).toEqual([]);
    await executor({ store, functions, secrets: () => 'x' }).run(plan, { sessionId: 'S', params: { n: 1 } }).result;
    await expect(one.run(plan, { sessionId: 'S', params: { n: 1 } }).result).rejects.toMatchObject({ code: expect.stringMatching(/session_exists|missing_secrets/) });
    await expect(one.resume('NOPE').result).rejects.toMatchObject({ code: 'unknown_session' });
  });
});
