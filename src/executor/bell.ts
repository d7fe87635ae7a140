// Wakes one waiter. A ring while nobody waits is kept for the next wait, so none is missed.

export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Whether it rang since the last `reset` or `wait`. */
  get rung(): boolean {
    return this.#rung;
  }

  reset(): void {
    this.#rung = false;
  }

  /** Resolves at the next ring, or at once when it rang since the last `reset` or `wait`. */
  async wait(): Promise<void> {
    if (!this.#rung) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
    this.#rung = false;
  }
}
