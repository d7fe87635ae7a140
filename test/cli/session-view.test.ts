import { describe, expect, test } from 'vitest';
import { headOf } from '../../src/cli/session-head.js';
import { createPaint } from '../../src/cli/paint.js';
import { sessionText, stepText } from '../../src/cli/session-text.js';
import { viewSession, type SessionView } from '../../src/cli/session-view.js';
import { logPath } from '../../src/cli/log-files.js';
import { logFileName } from '../../src/executor/send-attempt.js';
import { newHolder } from '../../src/executor/drive-holder.js';
import { PermanentError, type PlanFunction, type SessionSummary, type Store } from '../../src/index.js';
import { executor, loaded, memoryStore } from '../support/sessions.js';

const paint = createPaint(false);

async function viewed(body: string, functions: { [name: string]: PlanFunction } = {}): Promise<{ view: SessionView; store: Store; text: string }> {
  const store = await memoryStore();
  await executor({ store, functions }).run(await loaded(body), { sessionId: 'S', maxWaitMs: 0 }).result;
  const stored = await store.getSession('S');
  if (stored === undefined) throw new Error('no session');
  const view = await viewSession(store, stored, Date.now(), { storeOption: ' --store x' });
  return { view, store, text: sessionText(view, Date.now(), paint).join('\n') };
}

const bad = () => {
  throw new PermanentError('no\nway', { tail: 'last words' });
};

describe('plan show', () => {
  test('has every step in the order of the file with its status, counters, outputs, error or reason', async () => {
    const { view, text } = await viewed('steps:\n  z: { set: { x: 1 } }\n  a: { needs: [z], call: { function: bad } }\n  b: { needs: [a], set: { x: 1 } }\nfinally:\n  f: { set: { ok: true } }\n', { bad });
    expect(view.steps.map((step) => [step.id, step.status, step.finally])).toEqual([['z', 'completed', false], ['a', 'failed', false], ['b', 'skipped', false], ['f', 'completed', true]]);
    expect(view.steps[0]).toMatchObject({ kind: 'set', attempt: 1, failures: 0, interruptions: 0, outputs: { x: 1 } });
    expect(view.steps[1]).toMatchObject({ failures: 1, error: { class: 'permanent' }, tolerated: false, needs: ['z'] });
    expect(view.steps[2]?.skip_reason).toEqual({ kind: 'upstream_failed', by: 'a' });
    expect(view.counts).toMatchObject({ completed: 2, failed: 1, skipped: 1 });
    expect(view.error?.step_id).toBe('a');
    expect(view.next[0]?.command).toBe('plan resume S --store x');
    expect(text).toMatch(/^a +failed +1 +\S+ +no \| way/m);
    expect(text).toMatch(/root cause: step a failed: no \| way/);
    expect(text.indexOf('root cause')).toBeGreaterThan(text.indexOf('f  '));
  });

  test('says what an open session waits for and until when', async () => {
    const { view, text } = await viewed('steps:\n  w: { wait: { for: 1h } }\n  b: { needs: [w], set: { x: 1 } }\n');
    expect(view).toMatchObject({ status: 'waiting_timer', interrupted: false, waiting: { for: 'timer', step_id: 'w' } });
    expect(text).toMatch(/waiting +for w, until .* \(in (59m|1h)/);
    expect(text).toContain('nobody drives the session meanwhile');
    expect(view.next.map(({ command }) => command)).toEqual(['plan resume S --store x', 'plan cancel S --store x']);
  });

  test('shows a large value by its size and beginning, and in full when asked for the step', async () => {
    const { view, store } = await viewed('steps:\n  a: { call: { function: big } }\n', { big: () => ({ text: 'x'.repeat(50_000) }) });
    expect(view.steps[0]?.large_output).toMatchObject({ bytes: expect.any(Number) as number, preview: expect.stringContaining('xxx') as string });
    const stored = await store.getSession('S');
    const whole = await viewSession(store, stored as NonNullable<typeof stored>, Date.now(), { storeOption: '', whole: ['a'] });
    expect((whole.steps[0]?.result as { text: string }).text).toHaveLength(50_000);
    expect(stepText(whole, whole.steps[0] as (typeof whole.steps)[0], Date.now(), paint).join('\n')).toContain('result:');
  });

  test('of a large plan lists what says something', async () => {
    const steps = Array.from({ length: 300 }, (_, i) => `  s${i}: { set: { x: 1 } }`).join('\n');
    const { text, view } = await viewed(`on_failure: continue\nsteps:\n  a: { call: { function: bad } }\n${steps}\n`, { bad });
    expect(view.steps).toHaveLength(301);
    expect(text).toContain('300 steps not listed here (in all 300 completed, 1 failed)');
    expect(text).toMatch(/^a +failed/m);
  });

  test('finds the log of an attempt under the name that the executor gives it', () => {
    expect(logPath('/logs/S', 'my-step', 2, 3)).toBe(`/logs/S/${logFileName('my-step', 2, 3)}`);
  });
});

describe('whether a session is interrupted', () => {
  const me = newHolder();
  const dead = { ...me, process_start: '1' };
  const elsewhere = { ...me, host: 'another', boot_id: 'another' };
  const now = 1_000_000;
  const summary = (status: SessionSummary['state']['status'], holder?: typeof me, expires = now + 1000): SessionSummary => ({
    start: { session_id: 'S', plan_hash: '', plan_name: '', created_at: 0, params: {}, host_env: {}, base_dir: '/', plan_file: '' },
    state: { status, generation: 1, attempts_used: 0 },
    updated_at: 0,
    ...(holder === undefined ? {} : { lease: { session_id: 'S', holder, epoch: 1, expires_at: expires } }),
  });
  const interrupted = (...args: Parameters<typeof summary>) => headOf(summary(...args), now).interrupted;

  test('it is when its owner is dead, or cannot be judged and its lease is over', () => {
    expect(interrupted('running', dead)).toBe(true);
    expect(interrupted('retry_wait', dead)).toBe(true);
    expect(interrupted('running', elsewhere, now - 1)).toBe(true);
    expect(headOf(summary('running', dead), now).owner?.state).toBe('dead');
  });

  test('it is not while somebody drives it, when it was left waiting, or when it ended', () => {
    expect(interrupted('running', me, now - 1)).toBe(false);
    expect(interrupted('running', elsewhere)).toBe(false);
    expect(interrupted('waiting_timer')).toBe(false);
    expect(interrupted('paused_budget')).toBe(false);
    expect(interrupted('completed', dead)).toBe(false);
  });

  test('it is when its driver was told to stop, or gave it up in the middle', () => {
    expect(interrupted('ready')).toBe(true);
    expect(interrupted('running')).toBe(true);
  });
});
