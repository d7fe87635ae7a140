// A clock whose hands the test holds.
import type { Clock } from '../../src/core/clock.js';

interface Sleeper {
  at: number;
  wake: () => void;
}

export class SimClock implements Clock {
  #now: number;
  #elapsed = 0;
  #sleepers: Sleeper[] = [];

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  /** Sets wall time, as an administrator or a time server does; nobody slept meanwhile. */
  set(by: number): void {
    this.#now += by;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper: Sleeper = {
        at: this.#elapsed + ms,
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
    const end = this.#elapsed + ms;
    for (;;) {
      const next = this.#sleepers.filter((s) => s.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#move(next.at);
      next.wake();
      await settle();
    }
    this.#move(end);
    await settle();
  }

  #move(to: number): void {
    const by = Math.max(0, to - this.#elapsed);
    this.#elapsed += by;
    this.#now += by;
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
      await this.advance(Math.max(0, next.at - this.#elapsed));
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
