// The floors: bare library calls that the same durability needs, written by hand. Nothing of Planwright is used here.
import { spawn } from 'node:child_process';
import Database from 'better-sqlite3';

function open(file) {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('create table steps (session text, step text, state text, primary key (session, step)) without rowid');
  return { db, put: db.prepare('insert into steps values (?, ?, ?) on conflict do update set state = excluded.state') };
}

/** Queues writes; all that queued in one turn of the loop are one transaction. Resolves when it is committed. */
function groupCommit(db) {
  let queue = [];
  return (write) =>
    new Promise((resolve) => {
      if (queue.length === 0) {
        setImmediate(() => {
          const batch = queue;
          queue = [];
          db.transaction(() => batch.forEach((item) => item.write()))();
          batch.forEach((item) => item.resolve());
        });
      }
      queue.push({ write, resolve });
    });
}

/** A fan of no-op steps, `width` at a time: one upsert each, those that end in one turn in one commit. */
export async function floorFan(file, count, width) {
  const { db, put } = open(file);
  const commit = groupCommit(db);
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const i = next++;
      const value = await Promise.resolve({ i, ok: true });
      await commit(() => put.run('S', `s${i}`, JSON.stringify(value)));
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  db.close();
}

/** A chain of no-op steps: one commit each. */
export async function floorChain(file, count) {
  const { db, put } = open(file);
  for (let i = 0; i < count; i += 1) {
    const value = await Promise.resolve({ i, ok: true });
    db.transaction(() => put.run('S', `s${i}`, JSON.stringify(value)))();
  }
  db.close();
}

/** `sh -c true`, `width` at a time, each saved before and after, commits grouped. */
export async function floorCommands(file, count, width) {
  const { db, put } = open(file);
  const commit = groupCommit(db);
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const i = next++;
      await commit(() => put.run('S', `s${i}`, 'running'));
      await new Promise((resolve, reject) =>
        spawn('/bin/sh', ['-c', 'true'], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] }).on('error', reject).on('close', resolve),
      );
      await commit(() => put.run('S', `s${i}`, 'completed'));
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  db.close();
}

/** Reads the states of a session of `count` steps back. */
export function floorLoad(file, count) {
  const { db, put } = open(file);
  db.transaction(() => {
    for (let i = 0; i < count; i += 1) put.run('S', `s${i}`, JSON.stringify({ i, ok: true }));
  })();
  return () => {
    const rows = db.prepare('select step, state from steps where session = ?').all('S');
    for (const row of rows) JSON.parse(row.state);
    return rows.length;
  };
}
