// The floors: bare library calls that the same durability needs, written by hand. Nothing of Planwright is used here.
import { spawn } from 'node:child_process';
import Database from 'better-sqlite3';

/**
 * `same`: the rows that the promises need, as bare statements: before an attempt its charge, after it its result, and
 * for both an event (append-only, numbered). `one`: a single row a step, which forgets that an attempt had begun.
 */
function open(file, rows) {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec(`create table steps (session text, step text, kind text, state text, primary key (session, step, kind)) without rowid;
           create table events (session text, seq integer, step text, state text, primary key (session, seq)) without rowid`);
  const put = db.prepare('insert into steps values (?, ?, ?, ?) on conflict do update set state = excluded.state');
  const log = db.prepare('insert into events values (?, ?, ?, ?)');
  let seq = 0;
  const save = (step, kind, state) => {
    const json = JSON.stringify(state);
    put.run('S', step, kind, json);
    if (rows === 'same') log.run('S', (seq += 1), step, json);
  };
  return {
    db,
    begin: (step) => rows === 'same' && save(step, 'progress', { status: 'running', generation: 1, attempt: 1, failures: 0, interruptions: 1, started_at: Date.now() }),
    end: (step, value) => save(step, 'outcome', { status: 'completed', generation: 1, attempt: 1, failures: 0, interruptions: 0, ended_at: Date.now(), value }),
  };
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

/** A fan of no-op steps, `width` at a time; those that end in one turn share a commit with those that begin in it. */
export async function floorFan(file, count, width, rows) {
  const { db, begin, end } = open(file, rows);
  const commit = groupCommit(db);
  let next = 0;
  const worker = async () => {
    let last;
    while (next < count) {
      const i = next++;
      const ended = last;
      await commit(() => {
        if (ended !== undefined) end(ended.step, ended.value);
        begin(`s${i}`);
      });
      last = { step: `s${i}`, value: await Promise.resolve({ i, ok: true }) };
    }
    if (last !== undefined) await commit(() => end(last.step, last.value));
  };
  await Promise.all(Array.from({ length: width }, worker));
  db.close();
}

/** A chain of no-op steps: one commit each, which holds the end of a step and the beginning of the next. */
export async function floorChain(file, count, rows) {
  const { db, begin, end } = open(file, rows);
  db.transaction(() => begin('s0'))();
  for (let i = 0; i < count; i += 1) {
    const value = await Promise.resolve({ i, ok: true });
    db.transaction(() => {
      end(`s${i}`, value);
      if (i + 1 < count) begin(`s${i + 1}`);
    })();
  }
  db.close();
}

/** `sh -c true`, `width` at a time, in its own group, saved before and after, commits grouped. */
export async function floorCommands(file, count, width) {
  const { db, begin, end } = open(file, 'same');
  const commit = groupCommit(db);
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const i = next++;
      await commit(() => begin(`s${i}`));
      await new Promise((resolve, reject) =>
        spawn('/bin/sh', ['-c', 'true'], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] }).on('error', reject).on('close', resolve),
      );
      await commit(() => end(`s${i}`, null));
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  db.close();
}

/** Reads the states of a session of `count` steps back. */
export function floorLoad(file, count) {
  const { db, end } = open(file, 'same');
  db.transaction(() => {
    for (let i = 0; i < count; i += 1) end(`s${i}`, { i, ok: true });
  })();
  return () => {
    const rows = db.prepare('select step, state from steps where session = ?').all('S');
    for (const row of rows) JSON.parse(row.state);
    return rows.length;
  };
}
