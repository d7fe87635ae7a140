// Time is an argument: everything that waits or stamps asks a Clock, so tests can hold the hands.
//
// T1. Wall time can be set, back and forth. It stamps what people read and what other processes compare.
// T2. How long something takes or waits is measured by `elapsed`, which nobody sets.
import { uptime } from 'node:os';

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since any fixed moment: only grows, whatever is done to wall time. */
  elapsed(): number;
  /** Resolves when `elapsed` grew by `ms`, or at once when `signal` aborts (it never rejects). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

// Waking this often lets a laptop that slept notice that time has passed: timers stand still meanwhile.
const LONGEST_TIMER = 10_000;

/** The machine's clock. Sleeps are as long as asked, also beyond 24.8 days, and go on while the machine is suspended. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed,
  async sleep(ms, signal) {
    const end = elapsed() + ms;
    while (!signal?.aborted) {
      const left = end - elapsed();
      if (left <= 0) return;
      await timer(Math.min(left, LONGEST_TIMER), signal);
    }
  },
};

/**
 * A time that goes on evenly from wall time as it is now: in one drive of a session, what is measured against a stored
 * time must not jump when the machine's clock is set. Whole milliseconds since the Unix epoch.
 */
export function steadyTime(clock: Clock): () => number {
  const wall = clock.now();
  const start = clock.elapsed();
  return () => wall + Math.floor(clock.elapsed() - start);
}

// On Linux the timer of a process stands still while the machine is suspended; the uptime of the machine does not.
const LOOK_MS = 1000;
const NOISE_MS = 500;
let ahead: number | undefined;
let suspended = 0;
let lookedAt = 0;

function elapsed(): number {
  const running = performance.now();
  if (process.platform === 'linux' && (ahead === undefined || running - lookedAt >= LOOK_MS)) {
    lookedAt = running;
    const difference = uptime() * 1000 - running;
    ahead ??= difference;
    if (difference - ahead > suspended + NOISE_MS) suspended = difference - ahead;
  }
  return running + suspended;
}

function timer(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(handle);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const handle = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}
