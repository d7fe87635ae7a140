// A cancel that meets the end of a session, or of its driver, in any order: what it promises comes.
import { describe, expect, test } from 'vitest';
import { auditSession, type PlanFunction, type Store } from '../../src/index.js';
import { eventNames, executor, loaded, memoryStore, recorder } from '../support/sessions.js';
import { SimClock } from '../support/sim-clock.js';

const ask = { actor: 'ada', reason: 'no more' };

/** The store, with something done just before a commit that holds an event of this type is handed over. */
function before(store: Store, type: string, work: () => Promise<unknown>): Store {
  let done = false;
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const call = member as (...args: unknown[]) => unknown;
      if (name !== 'commit') return call.bind(target);
      return async (...args: Parameters<Store['commit']>) => {
        if (!done && args[0].changes.some((change) => change.type === type)) {
          done = true;
          await work();
        }
        return call.apply(target, args);
      };
    },
  });
}

/** Ends when it is told to, and only then. */
const hang: PlanFunction = (_, { signal }) => new Promise((_done, reject) => signal.addEventListener('abort', () => reject(new Error('ended')), { once: true }));

describe('a cancel that is stored before the end', () => {
  test.each([
    ['completes', 'session_completed', 'mark', ''],
    ['fails', 'session_failed', 'fail', ''],
    ['completes after its finally steps', 'session_completed', 'mark', '\nfinally: { z: { call: { function: mark } } }'],
  ])('wins over a session that just %s', async (_, type, fn, more) => {
    const inner = await memoryStore();
    const store = before(inner, type, () => inner.requestCancel('S', { requested_at: 1, ...ask }));
    const { functions } = recorder({ fail: () => { throw new Error('no'); } });
    const result = await executor({ store, functions }).run(await loaded(`steps: { a: { call: { function: ${fn} } } }${more}`), { sessionId: 'S' }).result;
    expect(result).toMatchObject({ status: 'cancelled', error: { class: 'cancelled' } });
    expect(result.outputs).toBeUndefined();
    expect(await eventNames(inner, 'S')).not.toContain(type);
    expect((await auditSession(inner, 'S')).differences).toEqual([]);
  });

  test('wins over a spent budget and over a wait that is too long to stay for', async () => {
    const inner = await memoryStore();
    const { functions } = recorder();
    const paused = before(inner, 'step_completed', () => inner.requestCancel('P', { requested_at: 1, ...ask }));
    const plan = await loaded('budget: { attempts: 1 }\nsteps: { a: { call: { function: mark } }, b: { needs: [a], call: { function: mark } } }');
    expect((await executor({ store: paused, functions }).run(plan, { sessionId: 'P' }).result).status).toBe('cancelled');
    const waiting = before(inner, 'session_waiting', () => inner.requestCancel('W', { requested_at: 1, ...ask }));
    const wait = await loaded('steps: { w: { wait: { for: 2d } } }');
    expect((await executor({ store: waiting, functions }).run(wait, { sessionId: 'W', maxWaitMs: 0 }).result).status).toBe('cancelled');
  });

  test('wins over a dead letter', async () => {
    const store = await memoryStore();
    const { functions } = recorder({ hang });
    const plan = await loaded('steps: { a: { call: { function: hang }, retry: { max_interruptions: 1 } } }');
    const handle = executor({ store, functions }).run(plan, { sessionId: 'S' });
    await expect.poll(() => eventNames(store, 'S')).toContain('step_started a');
    handle.stop();
    await handle.result;
    await store.requestCancel('S', { requested_at: 1, ...ask });
    expect((await executor({ store, functions }).resume('S').result).status).toBe('cancelled');
  });
});

test('a cancel after the end says that it is too late, and how the session ended', async () => {
  const store = await memoryStore();
  const one = executor({ store });
  await one.run(await loaded('steps: { a: { set: { x: 1 } } }'), { sessionId: 'S' }).result;
  await expect(one.cancel('S', ask)).rejects.toMatchObject({ code: 'session_ended', message: expect.stringMatching(/is completed.*nothing to cancel/) as unknown });
});

describe('a driver that is stopping', () => {
  const PLAN = 'steps: { a: { call: { function: slow }, kill_grace: 5s }, b: { needs: [a], call: { function: mark } } }\nfinally: { z: { call: { function: mark } } }';

  /** A session whose step `a`, told to stop, ends when `release` is called. */
  async function stopping() {
    const store = await memoryStore();
    let release = () => undefined as void;
    const { functions, calls } = recorder({ slow: () => new Promise((done) => (release = () => done({}))) });
    const one = executor({ store, functions });
    const handle = one.run(await loaded(PLAN), { sessionId: 'S' });
    await expect.poll(() => eventNames(store, 'S')).toContain('step_started a');
    handle.stop();
    return { store, one, handle, calls, release: () => release() };
  }

  test('obeys a cancel that comes meanwhile: nothing more starts but `finally`, and the session is cancelled', async () => {
    const { store, one, handle, calls, release } = await stopping();
    const cancelled = one.cancel('S', ask);
    await expect.poll(() => eventNames(store, 'S')).toContain('cancel_requested');
    setTimeout(release, 300);
    expect((await handle.result)).toMatchObject({ status: 'cancelled', interrupted: false });
    expect((await cancelled).status).toMatch(/cancelled|running/);
    expect(calls).toEqual(['a', 'z']);
    expect((await auditSession(store, 'S')).differences).toEqual([]);
  });

  test('that was told twice leaves at once; the cancel ends the session itself then', async () => {
    const { one, handle, calls, release } = await stopping();
    const cancelled = one.cancel('S', ask);
    handle.kill();
    release();
    expect(await handle.result).toMatchObject({ interrupted: true });
    expect(await cancelled).toEqual({ outcome: 'ended', status: 'cancelled' });
    expect(calls).toEqual(['a', 'z']);
  });
});

describe('a cancelled session whose `finally` hangs', () => {
  const PLAN = 'steps: { a: { call: { function: hang } } }\nfinally: { y: { call: { function: mark } }, z: { needs: [y], call: { function: hang } }, zz: { needs: [z], after: any, call: { function: mark } } }';

  test('a second cancel ends the finally steps, running and waiting ones, and says so', async () => {
    const store = await memoryStore();
    const { functions, calls } = recorder({ hang });
    const one = executor({ store, functions });
    const handle = one.run(await loaded(PLAN), { sessionId: 'S' });
    await expect.poll(() => eventNames(store, 'S')).toContain('step_started a');
    expect(await one.cancel('S', ask)).toEqual({ outcome: 'requested', status: 'running', answered: true });
    await expect.poll(() => eventNames(store, 'S')).toContain('step_started z');
    expect(await one.cancel('S', { actor: 'bob', reason: 'it hangs' })).toEqual({ outcome: 'ended', status: 'cancelled', ends_finally: true });
    expect((await handle.result).status).toBe('cancelled');
    expect(calls).toEqual(['a', 'y', 'z']);
    expect((await store.loadSteps('S')).get('z')?.state).toMatchObject({ status: 'cancelled', reason: 'cancelled by bob: it hangs' });
    expect((await store.getSession('S'))?.cancel).toMatchObject({ actor: 'ada', ends_finally: { actor: 'bob' } });
    expect((await auditSession(store, 'S')).differences).toEqual([]);
  });

  test('a second cancel before `finally` began is the first one still: clean-up runs', async () => {
    const store = await memoryStore();
    let release = () => undefined as void;
    const { functions, calls } = recorder({ hang: () => new Promise((done) => (release = () => done({}))) });
    const one = executor({ store, functions });
    const handle = one.run(await loaded('steps: { a: { call: { function: hang } } }\nfinally: { z: { call: { function: mark } } }'), { sessionId: 'S' });
    await expect.poll(() => eventNames(store, 'S')).toContain('step_started a');
    await one.cancel('S', ask);
    expect(await one.cancel('S', ask)).toEqual({ outcome: 'requested', status: 'running', answered: true });
    release();
    expect((await handle.result).status).toBe('cancelled');
    expect(calls).toEqual(['a', 'z']);
  });

  test('a stop during the `finally` of a cancelled session leaves it resumable, as ever', async () => {
    const store = await memoryStore();
    const { functions } = recorder({ hang });
    const one = executor({ store, functions });
    const handle = one.run(await loaded(PLAN), { sessionId: 'S' });
    await expect.poll(() => eventNames(store, 'S')).toContain('step_started a');
    await one.cancel('S', ask);
    await expect.poll(() => eventNames(store, 'S')).toContain('step_started z');
    handle.stop();
    expect(await handle.result).toMatchObject({ interrupted: true, status: 'ready' });
    expect(await one.cancel('S', ask)).toEqual({ outcome: 'ended', status: 'cancelled', ends_finally: true });
  });
});

test('a driver that does not answer is not promised to', async () => {
  const store = await memoryStore();
  const { functions } = recorder({ hang });
  // The driver's time stands still, so it never looks.
  const clock = new SimClock();
  const handle = executor({ store, functions, clock }).run(await loaded('steps: { a: { call: { function: hang } } }'), { sessionId: 'S' });
  await expect.poll(() => eventNames(store, 'S')).toContain('step_started a');
  expect(await executor({ store }).cancel('S', ask)).toEqual({ outcome: 'requested', status: 'running', answered: false });
  expect((await clock.until(handle.result)).status).toBe('cancelled');
});
