// Defects of the systems before this one in how a plan is driven (seed-systems.md, section 5), each with the right
// behaviour. What ran is counted in functions, never read from a status alone.
import { describe, expect, test } from 'vitest';
import { auditSession, loadPlan, PermanentError, TransientError, type Store } from '../../src/index.js';
import { eventNames, executor, fileStore, loaded, memoryStore, recorder, tempDir } from '../support/sessions.js';
import { SimClock } from '../support/sim-clock.js';

const head = 'plan: 1\nname: seed\n';

async function problemsOf(body: string): Promise<Array<{ code: string; message: string }>> {
  const result = await loadPlan({ source: head + body });
  return result.ok ? [] : result.problems;
}

/** Resolves when `open` is called. */
function latch(): { opened: Promise<void>; open: () => void } {
  let open = () => undefined as void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('D9: a stop is never swallowed', () => {
  test.each([
    ['obeys', (signal: AbortSignal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))],
    ['throws its own error', (signal: AbortSignal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new DOMException('gone', 'AbortError'))))],
    ['returns as if nothing was', (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({ done: true })))],
    ['never ends', () => new Promise(() => undefined)],
  ])('a function that %s: its dependents do not start, and the plan is not completed', async (_, behave) => {
    const clock = new SimClock();
    const store = await memoryStore();
    const controller = new AbortController();
    const { functions, calls } = recorder({
      a: (_args, { signal }) => {
        setImmediate(() => controller.abort());
        return behave(signal);
      },
    });
    const one = executor({ store, functions, clock });
    const plan = await loaded('steps: { a: { call: { function: a }, kill_grace: 50ms }, b: { needs: [a], call: { function: mark } } }');
    const result = await one.run(plan, { sessionId: 'S', signal: controller.signal }).result;
    expect(result).toMatchObject({ interrupted: true, status: 'ready', counts: { pending: 2 } });
    expect(calls).toEqual(['a']);
    // Nothing was taken for an end: both run when the session goes on.
    const go = recorder();
    expect(await executor({ store, functions: { ...go.functions, a: () => null } }).resume('S').result).toMatchObject({ status: 'completed' });
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
  const run = async (retry: string) => {
    const clock = new SimClock();
    const { functions, calls } = recorder({ hang: () => new Promise(() => undefined) });
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

describe('D16 to D18: the graph is what the plan says', () => {
  test('D16: a need that is misspelt is a problem, and nothing of the plan can run', async () => {
    expect(await problemsOf('steps:\n  deploy: { needs: [tset], call: { function: mark } }\n  test: { call: { function: mark } }\n')).toMatchObject([
      { code: 'unknown_step', message: expect.stringContaining('tset'), hint: expect.stringContaining('test') },
    ]);
  });

  test('D17: two steps with one id are told as that, not as a cycle; a cycle is told as its path', async () => {
    const twice = await problemsOf('steps:\n  a: { run: x }\n  b: { needs: [a], run: y }\n  a: { needs: [b], run: z }\n');
    expect(twice.map((problem) => problem.code)).toEqual(['duplicate_id']);
    const cycle = await problemsOf('steps:\n  a: { needs: [c], run: x }\n  b: { needs: [a], run: y }\n  c: { needs: [b], run: z }\n  d: { needs: [c], run: z }\n');
    expect(cycle.map((problem) => problem.code)).toEqual(['cycle']);
    for (const id of ['a', 'b', 'c']) expect(cycle[0]?.message).toContain(id);
  });

  test.each(['layered', 'eager'])('D18: a reference is a need, wherever it stands, %s', async (scheduling) => {
    const { functions, calls } = recorder({
      slow: async () => {
        for (let i = 0; i < 5; i += 1) await new Promise((done) => setImmediate(done));
        return { v: 7 };
      },
      take: (args) => args,
    });
    const plan = await loaded(`
scheduling: ${scheduling}
steps:
  byIf: { if: steps.slow.outputs.v == 7, call: { function: take } }
  byArgs: { call: { function: take, args: { v: "\${{ steps.slow.outputs.v }}" } } }
  bySet: { set: { v: "\${{ steps.byArgs.result.v + 1 }}" } }
  byCheck: { check: steps.bySet.outputs.v == 8 }
  slow: { call: { function: slow }, outputs: { v: integer } }
outputs: { v: "\${{ steps.bySet.outputs.v }}" }
`);
    const result = await executor({ store: await memoryStore(), functions }).run(plan).result;
    expect(result).toMatchObject({ status: 'completed', outputs: { v: 8 }, counts: { completed: 5 } });
    expect(calls[0]).toBe('slow');
  });
});

describe('D20: a failed plan can go on', () => {
  for (const verb of ['resume', 'retry'] as const) {
    test(`by ${verb}: what failed runs again, what completed does not, and until then the reason is there`, async () => {
      const dir = tempDir();
      let go = false;
      const { functions, calls } = recorder({
        bad: () => {
          if (!go) throw new Error('the disk is full');
          return null;
        },
      });
      const first = await fileStore(dir);
      await executor({ store: first, functions }).run(await loaded('steps: { a: { call: { function: mark } }, b: { needs: [a], call: { function: bad } }, c: { needs: [b], call: { function: mark } } }'), { sessionId: 'S' }).result;
      await first.close();
      const store = await fileStore(dir);
      expect((await store.getSession('S'))?.state).toMatchObject({ status: 'failed', error: { step_id: 'b', message: expect.stringContaining('the disk is full') } });
      const one = executor({ store, functions });
      expect(await one[verb]('S').result).toMatchObject({ status: 'failed', error: { step_id: 'b' } });
      go = true;
      expect(await one[verb]('S').result).toMatchObject({ status: 'completed' });
      expect(calls).toEqual(['a', 'b', 'b', 'b', 'c']);
    });
  }
});

describe('D21: what a failure stops, and what a layer makes wait', () => {
  const layer = (policy: string) => `${policy}concurrency: 1\nsteps:\n  bad: { call: { function: bad } }\n  write: { call: { function: mark } }\n  after_bad: { needs: [bad], call: { function: mark } }\n`;
  const bad = () => {
    throw new Error('no');
  };

  test('steps of the same layer that had not started do not start, unless the plan says continue', async () => {
    for (const [policy, ran] of [['', ['bad']], ['on_failure: continue\n', ['bad', 'write']]] as const) {
      const store = await memoryStore();
      const { functions, calls } = recorder({ bad });
      const result = await executor({ store, functions }).run(await loaded(layer(policy)), { sessionId: 'S' }).result;
      expect([result.status, calls]).toEqual(['failed', ran]);
      if (policy === '') expect((await store.loadSteps('S')).get('write')?.state).toMatchObject({ status: 'skipped', reason: { kind: 'stopped', by: 'bad' } });
    }
  });

  test('eager: a step starts when its needs ended, though another of their layer still runs; layered: it waits for the layer', async () => {
    const body = (scheduling: string) => `scheduling: ${scheduling}\nsteps:\n  fast: { call: { function: mark } }\n  slow: { call: { function: slow } }\n  after_fast: { needs: [fast], call: { function: after } }\n`;
    const run = async (scheduling: string) => {
      const after = latch();
      const order: string[] = [];
      const result = await executor({
        store: await memoryStore(),
        functions: {
          mark: () => null,
          // Eager: ends only when after_fast has begun, so a barrier would hang. Layered: ends after many turns of the loop.
          slow: async () => {
            if (scheduling === 'eager') await after.opened;
            else for (let i = 0; i < 50; i += 1) await new Promise((done) => setImmediate(done));
            order.push('slow');
            return null;
          },
          after: () => {
            after.open();
            order.push('after_fast');
            return null;
          },
        },
      }).run(await loaded(body(scheduling))).result;
      expect(result.status).toBe('completed');
      return order;
    };
    expect(await run('eager')).toEqual(['after_fast', 'slow']);
    expect(await run('layered')).toEqual(['slow', 'after_fast']);
  });
});

describe('D23 and D24: limits are those that the plan declares', () => {
  test('D23: three hundred steps are nothing special; a limit of 50 attempts is one when it is declared', async () => {
    const steps = Array.from({ length: 300 }, (_, i) => `  s${i}: { ${i % 3 === 0 ? '' : `needs: [s${i - 1}], `}call: { function: mark } }`).join('\n');
    const free = recorder();
    expect(await executor({ store: await memoryStore(), functions: free.functions }).run(await loaded(`steps:\n${steps}`)).result).toMatchObject({ status: 'completed' });
    expect(free.calls).toHaveLength(300);
    const bound = recorder();
    const result = await executor({ store: await memoryStore(), functions: bound.functions }).run(await loaded(`budget: { attempts: 50 }\nsteps:\n${steps}`)).result;
    expect(result).toMatchObject({ status: 'paused_budget', counts: { completed: 50, pending: 250 } });
    expect(bound.calls).toHaveLength(50);
  });

  test('D24: the deadline of the plan ends it between its steps and inside one, and a restart does not move it', async () => {
    const clock = new SimClock();
    const dir = tempDir();
    const { functions, calls } = recorder({ work: () => clock.sleep(40_000).then(() => null) });
    const plan = await loaded(`timeout: 100s\nsteps:\n${[1, 2, 3, 4].map((i) => `  s${i}: { ${i > 1 ? `needs: [s${i - 1}], ` : ''}call: { function: work }, kill_grace: 0s }`).join('\n')}`);
    const start = clock.now();
    const first = await fileStore(dir);
    const handle = executor({ store: first, clock, functions }).run(plan, { sessionId: 'S' });
    const stopping = (async () => {
      for await (const event of handle) if (event.type === 'step_started' && event.step_id === 's2') handle.stop();
    })();
    expect((await clock.until(handle.result)).status).toBe('ready');
    await stopping;
    await first.close();
    const store = await fileStore(dir);
    expect((await store.getSession('S'))?.state.deadline_at).toBe(start + 100_000);
    const result = await clock.until(executor({ store, clock, functions }).resume('S').result);
    expect(result).toMatchObject({ status: 'expired', error: { class: 'timeout' } });
    expect(calls.slice(0, 2)).toEqual(['s1', 's2']);
    expect(calls).not.toContain('s4');
    expect(clock.now() - start).toBeLessThanOrEqual(101_000);
  });

  test('D24: a deadline that passed while nobody drove is kept by the next driver, before it starts anything', async () => {
    const clock = new SimClock();
    const store = await memoryStore();
    const { functions, calls } = recorder();
    const one = executor({ store, clock, functions });
    const plan = await loaded('timeout: 10m\nsteps: { w: { wait: { for: 5m } }, a: { needs: [w], call: { function: mark } } }\nfinally: { z: { call: { function: mark } } }');
    expect((await clock.until(one.run(plan, { sessionId: 'S', maxWaitMs: 0 }).result)).status).toBe('waiting_timer');
    await clock.advance(3_600_000);
    expect((await clock.until(one.resume('S').result)).status).toBe('expired');
    expect(calls).toEqual(['z']);
  });
});

describe('invariants of the systems before this one', () => {
  test('I7: budget, deadline and what was used survive a restart, and a resume resets none of them', async () => {
    const dir = tempDir();
    const clock = new SimClock();
    const { functions, calls } = recorder();
    const plan = await loaded('timeout: 1h\nbudget: { attempts: 3 }\nsteps:\n  a: { call: { function: mark } }\n  w: { needs: [a], wait: { for: 1m } }\n  b: { needs: [w], call: { function: mark } }\n  c: { needs: [b], call: { function: mark } }\n');
    const look = async (store: Store) => {
      const state = (await store.getSession('S'))?.state;
      return [state?.attempts_used, state?.attempts_limit, state?.deadline_at];
    };
    const start = clock.now();
    let store = await fileStore(dir);
    await clock.until(executor({ store, clock, functions }).run(plan, { sessionId: 'S', maxWaitMs: 0 }).result);
    expect(await look(store)).toEqual([2, 3, start + 3_600_000]);
    await store.close();
    await clock.advance(60_000);
    store = await fileStore(dir);
    expect((await clock.until(executor({ store, clock, functions }).resume('S').result)).status).toBe('paused_budget');
    expect(await look(store)).toEqual([3, 3, start + 3_600_000]);
    expect(calls).toEqual(['a', 'b']);
  });

  test('I11: a resume keeps what was completed, with its value, however often', async () => {
    const store = await memoryStore();
    let tries = 0;
    const { functions, calls } = recorder({
      once: () => ({ n: (tries += 1) }),
      bad: () => {
        throw new Error('no');
      },
    });
    const one = executor({ store, functions });
    await one.run(await loaded('steps: { a: { call: { function: once } }, b: { needs: [a], call: { function: bad } } }'), { sessionId: 'S' }).result;
    for (let i = 0; i < 3; i += 1) await one.resume('S').result;
    expect(calls).toEqual(['a', 'b', 'b', 'b', 'b']);
    expect((await store.loadSteps('S')).get('a')?.state).toMatchObject({ status: 'completed', generation: 1, output: { value: { result: { n: 1 } } } });
  });

  test('I30: a listener that fails, and a reader that goes away, never fail a run', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder({
      talk: (_, { log }) => {
        log('hello');
        return null;
      },
    });
    const plan = await loaded('steps: { a: { call: { function: talk } }, b: { needs: [a], run: [echo, hello] }, c: { needs: [b], call: { function: mark } } }');
    let told = 0;
    const handle = executor({ store, functions }).run(plan, {
      sessionId: 'S',
      onOutput: () => {
        told += 1;
        throw new Error('the exporter is down');
      },
    });
    for await (const event of handle) if (event.type === 'step_started') break;
    expect((await handle.result).status).toBe('completed');
    expect([calls, told > 0]).toEqual([['a', 'c'], true]);
    expect((await eventNames(store, 'S')).at(-1)).toBe('session_completed');
  });
});
