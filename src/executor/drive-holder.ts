// The drives of this process, and whether the holder of a lease lives.
//
// H1. The number of a living process proves nothing about a drive that this process ended: its own drives it knows.
// H2. A lease that could not be given back (full disk, closed store) is given back later, while the process lives.
import { randomBytes } from 'node:crypto';
import { StoreError } from '../core/error.js';
import { judgeHolder, processIdentity, type HolderVerdict } from '../process/identity.js';
import type { Lease, LeaseHolder, Store } from '../store/store.js';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

interface Drives {
  live: Set<string>;
  /** Ended, and perhaps still written in a store as the holder. */
  ended: Set<string>;
}

// Shared by all copies of this module in a process: one must not take the drive of another for dead.
const KEY = Symbol.for('planwright.drives');
const shared = globalThis as { [KEY]?: Drives };

function drives(): Drives {
  return (shared[KEY] ??= { live: new Set(), ended: new Set() });
}

/** A holder for a drive that begins now. Whoever asks for one ends it: `endHolder`, or `giveUp` with its lease. */
export function newHolder(): LeaseHolder {
  const token = randomBytes(8).toString('hex');
  drives().live.add(token);
  return { token, ...processIdentity() };
}

/** The drive of a holder is over: nothing of it runs any more. */
export function endHolder(holder: LeaseHolder): void {
  const { live, ended } = drives();
  if (live.delete(holder.token)) ended.add(holder.token);
}

/** Whether the drive of a holder lives; `unknown` also for one of another thread of this process. */
export function lifeOf(holder: LeaseHolder): HolderVerdict {
  const self = processIdentity();
  const life = judgeHolder(holder, self);
  if (life !== 'alive' || holder.pid !== self.pid || holder.pid_namespace !== self.pid_namespace) return life;
  const { live, ended } = drives();
  if (live.has(holder.token)) return 'alive';
  return ended.has(holder.token) ? 'dead' : 'unknown';
}

/** Another drive took the session: nobody will ask about this holder again. */
export function forgetHolder(holder: LeaseHolder): void {
  drives().ended.delete(holder.token);
}

/** Ends the drive and gives its lease back, now or as soon as the store takes it. Never throws. */
export async function giveUp(store: Store, lease: Lease): Promise<void> {
  endHolder(lease.holder);
  if ((await release(store, lease)) === 'later') retryLater(store, lease, FIRST_RETRY_MS);
}

async function release(store: Store, lease: Lease): Promise<'done' | 'later' | 'never'> {
  try {
    await store.releaseLease(lease);
    forgetHolder(lease.holder);
    return 'done';
  } catch (error) {
    return error instanceof StoreError && error.fault === 'closed' ? 'never' : 'later';
  }
}

// By the machine's own timers: this waits for a disk or another process, whose time no test holds.
function retryLater(store: Store, lease: Lease, waitMs: number): void {
  setTimeout(() => {
    void release(store, lease).then((answer) => {
      if (answer === 'later') retryLater(store, lease, Math.min(waitMs * 2, LONGEST_RETRY_MS));
    });
  }, waitMs).unref();
}
