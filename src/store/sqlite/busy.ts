// Waiting for other processes without holding the event loop: SQLite itself waits a few milliseconds at most, the
// rest of the wait is asynchronous.
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../../core/error.js';
import { isBusy } from './fault.js';

/** How long SQLite may wait inside one call, ms: longer than most commits of others, too short to notice. */
export const BLOCKING_WAIT_MS = 4;

/** Default of how long a call waits in all, ms. */
export const BUSY_TIMEOUT_MS = 30_000;

export interface BusyPolicy {
  timeoutMs: number;
  /** A number in [0, 1), for the jitter. */
  random: () => number;
}

/**
 * Wait before try number `tries`, ms. It stays short, and is random: SQLite keeps no queue of waiters, so whoever
 * asks rarely or in step with a busy writer would starve.
 */
export function busyDelay(tries: number, random: number): number {
  return 1 + random * Math.min(2 * tries, 20);
}

/** Repeats `work` while another process is in the way. StoreError `busy` when that lasts too long. */
export async function retryWhileBusy<T>(work: () => T, location: string, policy: BusyPolicy): Promise<T> {
  // Wall time, not the injected clock: this waits for other processes, whose time no test holds.
  const end = performance.now() + policy.timeoutMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (performance.now() >= end) throw busyError(location, policy, error);
    }
    await sleep(busyDelay(tries, policy.random()));
  }
}

export function busyError(location: string, policy: BusyPolicy, cause: unknown): StoreError {
  const seconds = Math.round(policy.timeoutMs / 100) / 10;
  return new StoreError('busy', `store ${location}: another process held it for ${seconds} s; end that process, or try again`, { cause });
}
