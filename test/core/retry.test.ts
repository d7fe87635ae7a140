import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ErrorRecord } from '../../src/core/error.js';
import { backoffDelay, decideRetry, matchesClass, type RetryRule } from '../../src/core/retry.js';

const rule = (rest: Partial<RetryRule> = {}): RetryRule => ({
  max_attempts: 3,
  backoff: 'exponential',
  delay: 1000,
  max_delay: 60_000,
  jitter: true,
  retry_on: ['transient', 'timeout'],
  give_up_on: [],
  ...rest,
});
const error = (rest: Partial<ErrorRecord> = {}): ErrorRecord => ({ class: 'transient', code: 'exit', message: '', exit_code: 1, ...rest });

describe('decideRetry', () => {
  test('give_up_on wins, and the record says why', () => {
    expect(decideRetry(error({ exit_code: 2 }), rule({ give_up_on: ['exit:2'] }), 1, 0, undefined, 0)).toEqual({ retry: false, why: 'not retried: exit 2 is in give_up_on' });
  });

  test('a permanent error is retried only when its exact code is named', () => {
    const missing = error({ class: 'permanent', exit_code: 127 });
    expect(decideRetry(missing, rule(), 1, 0, undefined, 0).retry).toBe(false);
    expect(decideRetry(missing, rule({ retry_on: ['any'] }), 1, 0, undefined, 0).retry).toBe(false);
    expect(decideRetry(missing, rule({ retry_on: ['exit:127'] }), 1, 0, undefined, 0).retry).toBe(true);
  });

  test('a retry that would begin after the deadline of the step is none', () => {
    expect(decideRetry(error(), rule(), 1, 0, 1000, 0)).toMatchObject({ retry: false });
    expect(decideRetry(error(), rule(), 1, 0, 1001, 0)).toMatchObject({ retry: true });
  });

  test('classes match what they name and nothing else', () => {
    expect(matchesClass('http:5xx', error({ http_status: 503 }))).toBe(true);
    expect(matchesClass('http:5xx', error({ http_status: 429 }))).toBe(false);
    expect(matchesClass('http:429', error({ http_status: 429 }))).toBe(true);
    expect(matchesClass('signal:SIGKILL', error({ signal: 'SIGKILL', exit_code: 137 }))).toBe(true);
    expect(matchesClass('exit:137', error({ signal: 'SIGKILL', exit_code: 137 }))).toBe(false);
    expect(matchesClass('timeout', error({ class: 'timeout' }))).toBe(true);
  });
});

test('a wait is never below delay, never above max_delay, and does not shrink as failures add up', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 0, max: 10_000_000 }), fc.integer({ min: 1, max: 200 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (delay, extra, failures, random) => {
      const with_ = rule({ delay, max_delay: delay + extra });
      const wait = backoffDelay(with_, failures, random);
      expect(wait).toBeGreaterThanOrEqual(delay);
      expect(wait).toBeLessThanOrEqual(delay + extra);
      expect(backoffDelay({ ...with_, jitter: false }, failures + 1, 0)).toBeGreaterThanOrEqual(backoffDelay({ ...with_, jitter: false }, failures, 0));
    }),
  );
});
