// Times at which steps go on, and one sleeper for the earliest of them.
//
// Q1. A time of `set` is on the drive's steady time: setting the machine's clock moves it neither way.
// Q2. A time of `setWall` is a moment of the calendar: it comes when wall time says so.
import type { Clock } from '../core/clock.js';

// How soon a set clock is noticed while a moment of the calendar is waited for, ms.
const WALL_LOOK_MS = 1000;

export class TimerQueue {
  readonly #clock: Clock;
  readonly #steady: () => number;
  readonly #onTime: () => void;
  readonly #times = new Times();
  readonly #walls = new Times();
  #armed: { at: number; sleeper: AbortController } | undefined;

  /**
   * @param steady the drive's time, ms
   * @param onTime called when the earliest time may have come
   */
  constructor(clock: Clock, steady: () => number, onTime: () => void) {
    this.#clock = clock;
    this.#steady = steady;
    this.#onTime = onTime;
  }

  set(key: string, at: number): void {
    this.#times.set(key, at);
  }

  setWall(key: string, at: number): void {
    this.#walls.set(key, at);
  }

  delete(key: string): void {
    this.#times.delete(key);
    this.#walls.delete(key);
  }

  /** The earliest time and its key, on the drive's time; undefined when nothing waits. */
  get first(): { key: string; at: number } | undefined {
    const [steady, wall] = [this.#times.first, this.#walls.first];
    if (wall === undefined) return steady;
    const at = wall.at - this.#clock.now() + this.#steady();
    return steady === undefined || at < steady.at ? { key: wall.key, at } : steady;
  }

  /** Removes and returns the keys whose time has come, earliest first. */
  takeDue(): string[] {
    const due = new Set([...this.#times.due(this.#steady()), ...this.#walls.due(this.#clock.now())]);
    for (const key of due) this.delete(key);
    return [...due];
  }

  /** Sleeps until the earliest time; replaces an earlier sleep. */
  arm(): void {
    const at = this.first?.at;
    if (at !== undefined && this.#armed?.at === at) return;
    this.disarm();
    if (at === undefined) return;
    const armed = { at, sleeper: new AbortController() };
    this.#armed = armed;
    const wait = Math.max(0, at - this.#steady());
    void this.#clock.sleep(this.#walls.first === undefined ? wait : Math.min(wait, WALL_LOOK_MS), armed.sleeper.signal).then(() => {
      if (armed.sleeper.signal.aborted) return;
      this.#armed = undefined;
      this.#onTime();
    });
  }

  disarm(): void {
    this.#armed?.sleeper.abort();
    this.#armed = undefined;
  }
}

/** Times by key; the earliest is known without a search until it is taken away. */
class Times {
  readonly #times = new Map<string, number>();
  #next: number | undefined;

  set(key: string, at: number): void {
    const replaced = this.#times.get(key);
    this.#times.set(key, at);
    if (this.#next === undefined || at < this.#next) this.#next = at;
    else if (replaced === this.#next) this.#findNext();
  }

  delete(key: string): void {
    const at = this.#times.get(key);
    if (this.#times.delete(key) && at === this.#next) this.#findNext();
  }

  get first(): { key: string; at: number } | undefined {
    for (const [key, at] of this.#times) if (at === this.#next) return { key, at };
    return undefined;
  }

  due(now: number): string[] {
    if (this.#next === undefined || this.#next > now) return [];
    return [...this.#times].filter(([, at]) => at <= now).sort((a, b) => a[1] - b[1]).map(([key]) => key);
  }

  #findNext(): void {
    let next: number | undefined;
    for (const at of this.#times.values()) if (next === undefined || at < next) next = at;
    this.#next = next;
  }
}
