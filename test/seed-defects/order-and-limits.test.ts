// Defects of the systems before this one in the order and the limits of a plan, and invariants of theirs that hold here
// (seed-systems.md, sections 3 and 5). What ran is counted in functions, never read from a status alone.
import { describe, expect, test } from 'vitest';
import { loadPlan, type Store } from '../../src/index.js';
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
