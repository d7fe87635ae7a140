import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EXIT, exitCodeOf, exitCodeOfError } from '../../src/cli/exit-code.js';
import { SessionHeldError, StaleEpochError, StoreError, UsageError } from '../../src/core/error.js';
import { SESSION_STATUSES } from '../../src/core/session-state.js';

describe('exit codes', () => {
  test('follow the status of the session', () => {
    const codes = Object.fromEntries(SESSION_STATUSES.map((status) => [status, exitCodeOf({ status, interrupted: false })]));
    expect(codes).toEqual({ ready: 130, running: 130, retry_wait: 3, waiting_timer: 3, paused_budget: 3, completed: 0, failed: 1, cancelled: 5, expired: 1, dead_letter: 1 });
  });

  test('an interrupt is 130 unless the session ended all the same', () => {
    expect(exitCodeOf({ status: 'ready', interrupted: true })).toBe(130);
    expect(exitCodeOf({ status: 'retry_wait', interrupted: true })).toBe(130);
    expect(exitCodeOf({ status: 'completed', interrupted: true })).toBe(0);
  });

  test('follow the class of an error', () => {
    expect(exitCodeOfError(new UsageError('x', 'x'))).toBe(2);
    expect(exitCodeOfError(new SessionHeldError('S', 'x', {}))).toBe(6);
    expect(exitCodeOfError(new StaleEpochError('S', 1, 2))).toBe(6);
    expect(exitCodeOfError(new StoreError('full', 'x'))).toBe(7);
    expect(exitCodeOfError(new Error('x'))).toBe(1);
  });

  test('are all explained in docs/exit-codes.md', () => {
    const page = readFileSync(new URL('../../docs/exit-codes.md', import.meta.url), 'utf8');
    for (const [name, code] of Object.entries(EXIT)) expect(page).toContain(`| ${code} | ${name} |`);
  });
});
