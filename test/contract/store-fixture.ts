// How the contract gets its stores.
import { onTestFinished } from 'vitest';
import type { Lease, Store } from '../../src/store/store.js';
import { newSession } from '../support/store-samples.js';

export interface StoreFixture {
  /** A new, empty store. */
  open(): Promise<Store>;
  /** One more store over the same data as the one opened last, as another process would open it; or why not. */
  openAgain: (() => Promise<Store>) | { skip: string };
}

/** A new, empty store that is closed when the test ends. */
export async function openAnew(fixture: StoreFixture): Promise<Store> {
  const store = await fixture.open();
  onTestFinished(() => store.close());
  return store;
}

/** The same with one session in it, and the lease to write it. */
export async function openWithSession(fixture: StoreFixture, id = 's'): Promise<{ store: Store; lease: Lease }> {
  const store = await openAnew(fixture);
  return { store, lease: await store.createSession(newSession(id)) };
}
