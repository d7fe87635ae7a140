// A clock whose hands the test holds.
import type { Clock } from '../../src/core/clock.js';

interface Sleeper {
  at: number;
  wake: () => void;
}

export class SimClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper: Sleeper = {
        at: this.#now + ms,
        wake: () => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      signal?.addEventListener('abort', sleeper.wake, { once: true });
      this.#sleepers.push(sleeper);
    });
  }

  /** Moves the hands; those whose time comes wake in order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#sleepers.filter((s) => s.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  /** Moves the hands on until a promise is settled, from one sleeper to the next. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const watch = promise.then(
      () => (settled = true),
      () => (settled = true),
    );
    // Processes and files take real time, in which nobody sleeps by this clock.
    for (let moved = performance.now(); !settled && performance.now() - moved < 10_000; ) {
      await settle();
      const next = this.#sleepers.sort((a, b) => a.at - b.at)[0];
      if (settled || next === undefined) continue;
      await this.advance(Math.max(0, next.at - this.#now));
      moved = performance.now();
    }
    if (!settled) throw new Error('nothing moves any more');
    await watch;
    return promise;
  }

  get sleeping(): number {
    return this.#sleepers.length;
  }
}

// Lets everything that is ready run: microtasks and a few turns of the loop (group commits happen there).
async function settle(): Promise<void> {
  for (let i = 0; i < 4; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
