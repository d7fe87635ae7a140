// Time is an argument: everything that waits or stamps asks a Clock, so tests can hold the hands.

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts (it never rejects). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

// setTimeout overflows to 1 ms above this many milliseconds (24.8 days).
const LONGEST_TIMER = 2 ** 31 - 1;

/** The machine's clock. Sleeps are as long as asked, also beyond 24.8 days, and follow wall time over a suspend. */
export const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    const end = Date.now() + ms;
    while (!signal?.aborted) {
      const left = end - Date.now();
      if (left <= 0) return;
      // Waking once a minute lets a laptop that slept notice that the time has passed.
      await timer(Math.min(left, LONGEST_TIMER, 60_000), signal);
    }
  },
};

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
