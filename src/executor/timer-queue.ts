// Times at which steps go on, and one sleeper for the earliest of them.
import type { Clock } from '../core/clock.js';

export class TimerQueue {
  readonly #clock: Clock;
  readonly #onTime: () => void;
  readonly #times = new Map<string, number>();
  #next: number | undefined;
  #armed: { at: number; sleeper: AbortController } | undefined;

  /** @param onTime called when the earliest time has come */
  constructor(clock: Clock, onTime: () => void) {
    this.#clock = clock;
    this.#onTime = onTime;
  }

  set(key: string, at: number): void {
    const replaced = this.#times.get(key);
    this.#times.set(key, at);
    if (this.#next === undefined || at < this.#next) this.#next = at;
    else if (replaced === this.#next) this.#findNext();
  }

  delete(key: string): void {
    const at = this.#times.get(key);
    if (!this.#times.delete(key)) return;
    if (at === this.#next) this.#findNext();
  }

  /** The earliest time, ms; undefined when nothing waits. */
  get next(): number | undefined {
    return this.#next;
  }

  keys(): string[] {
    return [...this.#times.keys()];
  }

  /** The key with the earliest time. */
  first(): string | undefined {
    for (const [key, at] of this.#times) if (at === this.#next) return key;
    return undefined;
  }

  /** Removes and returns the keys whose time has come, earliest first. */
  takeDue(now: number): string[] {
    if (this.#next === undefined || this.#next > now) return [];
    const due = [...this.#times].filter(([, at]) => at <= now).sort((a, b) => a[1] - b[1]);
    for (const [key] of due) this.#times.delete(key);
    this.#findNext();
    return due.map(([key]) => key);
  }

  /** Sleeps until the earliest time; replaces an earlier sleep. */
  arm(): void {
    if (this.#armed?.at === this.#next) return;
    this.disarm();
    if (this.#next === undefined) return;
    const armed = { at: this.#next, sleeper: new AbortController() };
    this.#armed = armed;
    void this.#clock.sleep(Math.max(0, armed.at - this.#clock.now()), armed.sleeper.signal).then(() => {
      if (armed.sleeper.signal.aborted) return;
      this.#armed = undefined;
      this.#onTime();
    });
  }

  disarm(): void {
    this.#armed?.sleeper.abort();
    this.#armed = undefined;
  }

  #findNext(): void {
    let next: number | undefined;
    for (const at of this.#times.values()) if (next === undefined || at < next) next = at;
    this.#next = next;
  }
}
