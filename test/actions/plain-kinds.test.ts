import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.js';
import { contextOf, execute, failureOf, outputOf, plainResolver } from './support.js';

describe('check', () => {
  test('completes when the expression holds, else fails for good with the message', async () => {
    expect(await outputOf({ kind: 'check', that: 'true' })).toEqual({ outputs: {}, result: null });
    expect((await failureOf({ kind: 'check', that: 'a < b' })).record).toEqual({ class: 'permanent', code: 'check_failed', message: 'the check does not hold: a < b' });
    expect((await failureOf({ kind: 'check', that: 'x', message: 'rows: s3cr3t' }, { secrets: ['s3cr3t'] })).record).toMatchObject({ code: 'check_failed', message: 'rows: ***' });
  });
});

describe('set', () => {
  test('gives its values as outputs, with their types, whatever their names', async () => {
    const values = JSON.parse('{"a": 1, "b": ["x"], "__proto__": {"c": null}, "toString": "t"}') as { [name: string]: never };
    const { outputs } = await outputOf({ kind: 'set', values });
    expect(JSON.stringify(outputs)).toBe('{"a":1,"b":["x"],"__proto__":{"c":null},"toString":"t"}');
  });

  test('what is not JSON is a permanent error', async () => {
    const resolve = { ...plainResolver, value: () => ({ n: Infinity }) };
    expect((await failureOf({ kind: 'set', values: { a: 1 } }, { resolve })).record).toMatchObject({ class: 'permanent', code: 'not_json', details: { path: '$.a.n' } });
  });
});

describe('wait', () => {
  const now = Date.UTC(2026, 0, 1);
  const clock: Clock = { now: () => now, elapsed: () => now, sleep: () => Promise.resolve() };
  const wait = (action: { for?: string; until?: string }) => execute({ kind: 'wait', ...action }, contextOf({ kind: 'wait', ...action }, { clock }));
  const waiting = (ms: number) => ({ kind: 'waiting_timer', wake_at: now + ms, output: { outputs: {}, result: null } });

  test('waits for a duration or until a time with its offset', async () => {
    expect(await wait({ for: '1h30m' })).toEqual(waiting(5_400_000));
    expect(await wait({ until: '2026-01-01T01:00:00Z' })).toEqual(waiting(3_600_000));
    expect(await wait({ until: '2026-01-01 03:00:00.5+02:00' })).toEqual(waiting(3_600_500));
  });

  test('what is over already completes now', async () => {
    expect(await wait({ for: '0s' })).toMatchObject({ kind: 'completed' });
    expect(await wait({ until: '2025-12-31T23:59:59Z' })).toMatchObject({ kind: 'completed' });
  });

  test.each([{ for: '5' }, { for: 'soon' }, { for: '' }, { until: '2026-01-01' }, { until: '2026-01-01T01:00:00' }, { until: 'tomorrow' }, { until: '2026-13-01T00:00:00Z' }])('%j is a permanent error', async (action) => {
    expect((await failureOf({ kind: 'wait', ...action }, contextOf({ kind: 'wait' }, { clock }))).record.class).toBe('permanent');
  });
});
