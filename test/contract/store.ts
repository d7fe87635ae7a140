// What every Store must do: one suite, run on each of them (test/store).
import { describeMerge } from './store-merge.js';
import { describeOwners } from './store-owners.js';
import { describeRecords } from './store-records.js';
import type { StoreFixture } from './store-fixture.js';

export type { StoreFixture };

/** A store over the memory of one process says in its fixture why it skips what needs a second one. */
export function describeStore(name: string, fixture: StoreFixture): void {
  describeRecords(name, fixture);
  describeOwners(name, fixture);
  describeMerge(name, fixture);
}
