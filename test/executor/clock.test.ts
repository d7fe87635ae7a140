// The machine's clock is set while a session runs: durations stay as long as they are.
import { describe, expect, test, vi } from 'vitest';
import { systemClock, TransientError, type PlanFunction } from '../../src/index.js';
import { executor, loaded, memoryStore, recorder } from '../support/sessions.js';
import { SimClock } from '../support/sim-clock.js';

const HOUR = 3_600_000;

/** Runs a plan under a clock that is set by `by` ms when the function `set` is called; what it took, and how it ended. */
async function runWhileSet(body: string, by: number, more: { [name: string]: PlanFunction } = {}) {
  const clock = new SimClock();
  const { functions, calls } = recorder({ set: () => (clock.set(by), {}), hang: () => new Promise(() => undefined), ...more });
  const began = clock.elapsed();
  const store = await memoryStore();
  const result = await clock.until(executor({ store, clock, functions }).run(await loaded(body), { sessionId: 'S' }).result);
  return { result, took: clock.elapsed() - began, calls, steps: await store.loadSteps('S') };
}

describe.each([['back', -HOUR], ['forward', HOUR]])('a clock set %s by an hour', (_, by) => {
  test('moves no retry wait', async () => {
    let tries = 0;
    const { result, took } = await runWhileSet(
      'steps: { s: { call: { function: set } }, a: { needs: [s], call: { function: flaky }, retry: { delay: 10s, jitter: false } }, t: { needs: [a], call: { function: set } } }',
      by,
      { flaky: () => { if ((tries += 1) === 1) throw new TransientError('no'); return {}; } },
    );
    expect(result.status).toBe('completed');
    expect(took).toBeGreaterThanOrEqual(10_000);
    expect(took).toBeLessThan(11_000);
  });

  test('moves no retry wait that runs already', async () => {
    let tries = 0;
    const { took } = await runWhileSet(
      'steps: { w: { wait: { for: 5s } }, s: { needs: [w], call: { function: set } }, a: { call: { function: flaky }, retry: { delay: 10s, jitter: false } } }',
      by,
      { flaky: () => { if ((tries += 1) === 1) throw new TransientError('no'); return {}; } },
    );
    expect(took).toBeGreaterThanOrEqual(10_000);
    expect(took).toBeLessThan(11_000);
  });

  test('moves no attempt_timeout, timeout of a step, or timeout of the session', async () => {
    const set = 's: { call: { function: set } }';
    const attempt = await runWhileSet(`steps: { ${set}, a: { needs: [s], call: { function: hang }, attempt_timeout: 30s, kill_grace: 0s } }`, by);
    expect(attempt.result.error).toMatchObject({ class: 'timeout' });
    expect(attempt.took).toBeGreaterThanOrEqual(30_000);
    expect(attempt.took).toBeLessThan(62_000);
    const step = await runWhileSet(`steps: { ${set}, a: { call: { function: hang }, timeout: 30m, kill_grace: 0s } }`, by);
    expect(step.took).toBeGreaterThanOrEqual(HOUR / 2);
    expect(step.took).toBeLessThan(HOUR / 2 + 62_000);
    const session = await runWhileSet(`timeout: 30m\nsteps: { ${set}, a: { call: { function: hang }, kill_grace: 0s } }`, by);
    expect(session.result.status).toBe('expired');
    expect(session.took).toBeGreaterThanOrEqual(HOUR / 2);
    expect(session.took).toBeLessThan(HOUR / 2 + 62_000);
  });

  test('moves no `wait: for`, and the steps keep times that fit each other', async () => {
    const { result, took, steps } = await runWhileSet('steps: { s: { call: { function: set } }, w: { wait: { for: 10m } } }', by);
    expect(result.status).toBe('completed');
    expect(took).toBeGreaterThanOrEqual(600_000);
    expect(took).toBeLessThan(601_000);
    const state = steps.get('w')?.state as { started_at: number; ended_at: number };
    expect(state.ended_at - state.started_at).toBeGreaterThanOrEqual(600_000);
    expect(state.ended_at - state.started_at).toBeLessThan(601_000);
  });
});

describe('`wait: until` is a moment of the calendar', () => {
  const plan = (until: string) => `steps: { s: { call: { function: set } }, w: { wait: { until: "${until}" } } }`;

  test('a clock set forward brings it nearer, one set back takes it further away', async () => {
    const forward = await runWhileSet(plan('2026-01-01T02:00:00Z'), HOUR);
    expect(forward.took).toBeGreaterThan(HOUR - 3000);
    expect(forward.took).toBeLessThan(HOUR + 3000);
    const back = await runWhileSet(plan('2026-01-01T00:10:00Z'), -HOUR);
    expect(back.took).toBeGreaterThan(HOUR + 597_000);
    expect(back.took).toBeLessThan(HOUR + 603_000);
  });

  test('the timeout of its step still ends it', async () => {
    const { result, took } = await runWhileSet('steps: { w: { wait: { until: "2026-01-01T02:00:00Z" }, timeout: 10m } }', 0);
    expect(result.error).toMatchObject({ class: 'timeout', code: 'step_timeout' });
    expect(took).toBeLessThan(603_000);
  });
});

test('a retry wait that was stored while the clock was ahead is no longer than the policy allows', async () => {
  const clock = new SimClock();
  const store = await memoryStore();
  let tries = 0;
  const functions = { flaky: () => { if ((tries += 1) === 1) throw new TransientError('no'); return {}; } };
  const one = executor({ store, clock, functions });
  const plan = await loaded('steps: { a: { call: { function: flaky }, retry: { delay: 1m, max_delay: 2m, jitter: false } } }');
  expect((await one.run(plan, { sessionId: 'S', maxWaitMs: 0 }).result).status).toBe('retry_wait');
  clock.set(-24 * HOUR);
  const began = clock.elapsed();
  expect((await clock.until(one.resume('S').result)).status).toBe('completed');
  expect(clock.elapsed() - began).toBeLessThan(125_000);
});

test('the machine\'s clock sleeps by a time that nobody sets', async () => {
  const wall = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  const began = performance.now();
  const slept = systemClock.sleep(60);
  wall.mockReturnValue(0);
  await slept;
  expect(performance.now() - began).toBeLessThan(2000);
  const short = performance.now();
  const forward = systemClock.sleep(60);
  wall.mockReturnValue(Date.UTC(2100, 0));
  await forward;
  expect(performance.now() - short).toBeGreaterThanOrEqual(59);
  wall.mockRestore();
});

test('a driver whose clock was set back still hears of a cancel, and renews its lease', async () => {
  const clock = new SimClock();
  const store = await memoryStore();
  const { functions } = recorder({ hang: (_, { signal }) => new Promise((_done, reject) => signal.addEventListener('abort', () => reject(new Error('ended')), { once: true })) });
  const one = executor({ store, clock, functions });
  const handle = one.run(await loaded('steps: { a: { call: { function: hang } } }'), { sessionId: 'S' });
  await clock.advance(1000);
  clock.set(-HOUR);
  await clock.advance(6000);
  expect((await store.getSession('S'))?.lease?.expires_at).toBeGreaterThan(clock.now());
  await store.requestCancel('S', { requested_at: clock.now(), actor: 'ada', reason: 'no' });
  await clock.advance(300);
  expect((await clock.until(handle.result)).status).toBe('cancelled');
});
