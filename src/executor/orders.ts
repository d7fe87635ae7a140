// What a driver was told from outside: to stop, or to end its session by a cancel. It only remembers; the driver acts.
import type { CancelRequest } from '../core/session-state.js';

export class Orders {
  #stopping = false;
  #cancelSeen: boolean;
  #finallyEnded = false;
  #later: CancelRequest | undefined;

  /** @param cancelled whether the session is ending by a cancel already */
  constructor(cancelled: boolean) {
    this.#cancelSeen = cancelled;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** True when that is new. */
  stop(): boolean {
    const isNew = !this.#stopping;
    this.#stopping = true;
    return isNew;
  }

  /**
   * A cancel is stored: whom and what to obey now. Undefined when it was obeyed before, or must wait until the driver
   * has stopped. A request to end the `finally` steps counts while they run.
   */
  cancel(request: CancelRequest, inFinally: boolean): { actor: string; reason: string } | undefined {
    const again = this.#cancelSeen && !this.#finallyEnded && inFinally ? request.ends_finally : undefined;
    if (this.#cancelSeen && again === undefined) return undefined;
    if (this.#stopping) {
      this.#later = request;
      return undefined;
    }
    this.#cancelSeen = true;
    this.#finallyEnded = again !== undefined;
    return again ?? request;
  }

  /** Everything has stopped: a cancel that came meanwhile, for which the driver goes on after all. */
  goOn(): CancelRequest | undefined {
    if (this.#later !== undefined) this.#stopping = false;
    return this.#later;
  }
}
