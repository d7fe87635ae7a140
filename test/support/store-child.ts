// A process that uses a store, for tests that kill or crowd it: `store-child.ts MODE PATH [COUNT]`.
import Database from 'better-sqlite3';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { commitOf, ended, holderOf, started } from './store-samples.js';

const [mode = '', path = '', count = '0'] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

const modes: { [mode: string]: () => Promise<void> } = {
  /** Commits for ever, eight at a time, and says each seq once it was acknowledged. */
  async commit() {
    const store = await openSqliteStore({ path });
    const lease = (await store.getSession('s'))?.lease;
    if (!lease) throw new Error('no lease');
    const drive = async (lane: number) => {
      for (let i = 0; ; i += 1) say(String(await store.commit(commitOf(lease, [started(`s${lane}-${i}`), ended(`s${lane}-${i}`)]))));
    };
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(drive));
  },

  /** Commits COUNT times one after the other, then says how long the slowest took. */
  async hammer() {
    const store = await openSqliteStore({ path });
    const lease = (await store.getSession('s'))?.lease;
    if (!lease) throw new Error('no lease');
    say('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    let slowest = 0;
    for (let i = 0; i < Number(count); i += 1) {
      const begun = performance.now();
      await store.commit(commitOf(lease, [ended(`${process.pid}-${i}`)]));
      slowest = Math.max(slowest, performance.now() - begun);
    }
    await store.close();
    say(`slowest ${slowest}`);
    process.exit();
  },

  /** Opens the store and says which fault met it. */
  async open() {
    try {
      await (await openSqliteStore({ path })).close();
      say('opened');
    } catch (error) {
      const { fault, message } = error as { fault?: string; message: string };
      say(`${fault} ${message}`);
    }
  },

  /** A stranger that holds the write lock until it is told to go on. */
  async hold() {
    const db = new Database(path);
    db.exec('BEGIN IMMEDIATE');
    say('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    db.exec('COMMIT');
    db.close();
    process.exit();
  },

  /** A stranger that keeps a read transaction open. */
  async read() {
    const db = new Database(path);
    db.exec('BEGIN');
    db.prepare('SELECT count(*) FROM events').get();
    say('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    process.exit();
  },

  /** Creates a store while every permission is open, writes, and says the modes of all that came to be. */
  async modes() {
    process.umask(0);
    const store = await openSqliteStore({ path });
    await store.acquireLease({ session_id: 'none', holder: holderOf('x'), now: 0, expires_at: 0 }).catch(() => undefined);
    const folder = dirname(path);
    for (const file of ['.', ...readdirSync(folder)]) say(`${file} ${(statSync(join(folder, file)).mode & 0o777).toString(8)}`);
    await store.close();
  },

  /** COUNT commits one by one, or queued sixteen at a time with `COUNTx16`. */
  async commits() {
    const store = await openSqliteStore({ path });
    const lease = (await store.getSession('s'))?.lease;
    if (!lease) throw new Error('no lease');
    const width = count.endsWith('x16') ? 16 : 1;
    for (let done = 0; done < Number.parseInt(count, 10); done += width) {
      await Promise.all(Array.from({ length: width }, (_, i) => store.commit(commitOf(lease, [ended(`s${done + i}`)]))));
    }
    await store.close();
  },
};

await modes[mode]?.();
