import { describe, expect, test, vi } from 'vitest';
import { StatusLine, statusText } from '../../src/cli/status-line.js';
import { fakeWorld } from './support.js';

describe('the status line', () => {
  test('says what runs and for how long, the first four by name', () => {
    const running = Array.from({ length: 6 }, (_, i) => ({ step_id: `s${i}`, since: 1000 * i }));
    expect(statusText(running, [], 3, 20, 10_000)).toBe('6 running: s0 10.0s, s1 9.0s, s2 8.0s, s3 7.0s, and 2 more (3 of 20 ended)');
    expect(statusText([], [], 3, 20, 10_000)).toBe('');
  });

  test('says what is waited for while nothing runs', () => {
    const now = new Date(2026, 11, 1, 9, 30, 0).getTime();
    const waiting = [{ step_id: 'late', until: now + 60_000 }, { step_id: 'bake', until: now + 4000 }];
    expect(statusText([], waiting, 3, 20, now)).toBe('waiting for bake, until 09:30:04 (in 4.0s) and 1 more (3 of 20 ended)');
  });

  test('is drawn at the bottom, cut to the width, and cleared before anything else is printed', () => {
    vi.useFakeTimers();
    try {
      const { context, stdout } = fakeWorld({ tty: true });
      stdout.columns = 10;
      const status = new StatusLine(context.out, () => 'building everything');
      vi.advanceTimersByTime(300);
      expect(stdout.text).toBe('building ');
      status.clear();
      context.out.line('done');
      expect(stdout.text).toBe('building \r\u001b[2Kdone\n');
      status.close();
      vi.advanceTimersByTime(1000);
      expect(stdout.text).toBe('building \r\u001b[2Kdone\n');
    } finally {
      vi.useRealTimers();
    }
  });
});
