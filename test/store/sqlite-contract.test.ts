// The SQLite store meets the contract, in memory and in a file.
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { describeStore } from '../contract/store.js';
import { temporaryFolder } from '../support/store-samples.js';

let path = '';

describeStore('sqlite :memory:', {
  open: () => openSqliteStore({ path: ':memory:' }),
  openAgain: { skip: 'memory belongs to one connection' },
});

describeStore('sqlite file', {
  open: () => {
    path = join(temporaryFolder(onTestFinished), '.plan', 'plan.db');
    return openSqliteStore({ path });
  },
  openAgain: () => openSqliteStore({ path }),
});
