// Who drives a session: taking it, keeping it, noticing that it was lost or that somebody asked for its end.
//
// L1. On one host process life decides: a living owner keeps the session however late its heartbeat is, a dead one
//     loses it at once, and so does a drive that its own process ended (drive-holder.ts). Only where life cannot be
//     judged (another host or pid namespace, a stopped process) does the expiry of the lease decide.
import type { Clock } from '../core/clock.js';
import { SessionHeldError, StaleEpochError, StoreError, type StoreFault } from '../core/error.js';
import type { CancelRequest } from '../core/session-state.js';
import type { Lease, LeaseHolder, Store } from '../store/store.js';
import { forgetHolder, lifeOf } from './drive-holder.js';
import { nextCall } from './next-call.js';

export const LEASE_MS = 20_000;
const RENEW_MS = 5_000;
const POLL_MS = 200;
// Faults of a store that no time mends.
const HOPELESS: ReadonlySet<StoreFault> = new Set<StoreFault>(['closed', 'gone', 'corrupt']);

/** Whether somebody drives the session: a living process, or one that cannot be judged and whose lease runs. */
export function isHeld(lease: Lease, now: number): boolean {
  const life = lifeOf(lease.holder);
  return life === 'alive' || (life !== 'dead' && lease.expires_at > now);
}

/**
 * Takes a session that exists. SessionHeldError when a living process has it, or when its life cannot be judged and
 * its lease has not expired.
 */
export async function takeSession(store: Store, sessionId: string, current: Lease | undefined, holder: LeaseHolder, now: number): Promise<Lease> {
  let replaces: number | undefined;
  if (current !== undefined) {
    const life = lifeOf(current.holder);
    if (life === 'alive') throw heldError(store, current, now);
    if (life === 'dead') replaces = current.epoch;
  }
  const answer = await store.acquireLease({
    session_id: sessionId,
    holder,
    now,
    expires_at: now + LEASE_MS,
    ...(replaces === undefined ? {} : { replaces }),
  });
  if ('held' in answer) throw heldError(store, answer.held, now);
  if (current !== undefined) forgetHolder(current.holder);
  return answer.lease;
}

/** SessionHeldError when somebody drives the session now. */
export function refuseIfHeld(store: Store, lease: Lease | undefined, now: number): void {
  if (lease !== undefined && isHeld(lease, now)) throw heldError(store, lease, now);
}

function heldError(store: Store, lease: Lease, now: number): SessionHeldError {
  const { pid, host } = lease.holder;
  const { session_id: id } = lease;
  const life = lifeOf(lease.holder);
  const seconds = Math.max(1, Math.ceil((lease.expires_at - now) / 1000));
  const cancel = `end the session with: ${nextCall(store, 'cancel', id)}`;
  const told = {
    alive: `(it is alive); wait for it, or ${cancel}`,
    stopped: `, which is stopped (by SIGSTOP or Ctrl-Z); let it go on with: kill -CONT ${pid}, or end it with: kill -KILL ${pid}, and then: ${nextCall(store, 'resume', id)}. Its lease ends in ${seconds}s; from then on the session can be taken from it`,
    unknown: `(its lease ends in ${seconds}s); wait for it, or ${cancel}`,
    dead: `(it has ended); try again: ${nextCall(store, 'resume', id)}`,
  }[life];
  return new SessionHeldError(id, `session ${id} is driven by process ${pid} on ${host}${life === 'stopped' ? '' : ' '}${told}`, { ...lease.holder, epoch: lease.epoch, expires_at: lease.expires_at });
}

/** Renews the lease and watches the store while a session is driven. */
export class LeaseKeeper {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #lease: Lease;
  readonly #onLost: (error: Error) => void;
  readonly #onCancel: (request: CancelRequest) => void;
  readonly #end = new AbortController();
  /** When a lease that was not renewed since has run out, by `elapsed`. */
  #heldUntil: number;
  #loops: Promise<unknown> | undefined;

  constructor(options: {
    store: Store;
    clock: Clock;
    lease: Lease;
    /** The session belongs to another now, or the store cannot be reached any more. */
    onLost: (error: Error) => void;
    onCancel: (request: CancelRequest) => void;
  }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#lease = options.lease;
    this.#onLost = options.onLost;
    this.#onCancel = options.onCancel;
    this.#heldUntil = options.clock.elapsed() + LEASE_MS;
  }

  start(): void {
    this.#loops = Promise.all([this.#renewing(), this.#polling()]);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#loops;
  }

  async #renewing(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(RENEW_MS, this.#end.signal);
      if (this.#end.signal.aborted) return;
      const heldUntil = this.#clock.elapsed() + LEASE_MS;
      const failure = await attempt(() => this.#store.renewLease(this.#lease, this.#clock.now() + LEASE_MS));
      if (failure === undefined) this.#heldUntil = heldUntil;
      else if (this.#isLoss(failure)) return this.#onLost(failure);
    }
  }

  async #polling(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(POLL_MS, this.#end.signal);
      if (this.#end.signal.aborted) return;
      const failure = await attempt(() => this.look());
      if (failure !== undefined && this.#isLoss(failure)) return this.#onLost(failure);
    }
  }

  /** Looks once: calls `onCancel` when a cancel is stored; throws StaleEpochError when the session is lost. */
  async look(): Promise<void> {
    const seen = await this.#store.poll(this.#lease.session_id);
    if (seen === undefined || seen.epoch !== this.#lease.epoch) {
      throw new StaleEpochError(this.#lease.session_id, this.#lease.epoch, seen?.epoch ?? 0);
    }
    if (seen.cancel !== undefined) this.#onCancel(seen.cancel);
  }

  // One missed beat is none: a busy or failing store ends the drive only once the lease has run out.
  #isLoss(error: Error): boolean {
    if (error instanceof StoreError) return HOPELESS.has(error.fault) || this.#clock.elapsed() > this.#heldUntil;
    return true;
  }
}

async function attempt(work: () => Promise<void>): Promise<Error | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
