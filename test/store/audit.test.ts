// The audit finds what was changed beside the events.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { sha256 } from '../../src/core/json.js';
import { auditSession } from '../../src/store/audit.js';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { commitOf, completed, ended, newSession, started, temporaryFolder } from '../support/store-samples.js';

const content = '"large"';
const digest = sha256(content);

/** Audits a session after some SQL was run over its closed store. */
async function auditAfter(sql: string) {
  const path = join(temporaryFolder(onTestFinished), 'plan.db');
  const store = await openSqliteStore({ path });
  const lease = await store.createSession(newSession('s'));
  await store.commit(commitOf(lease, [{ ...started('a'), session: { attempts_used: 1 } }, ended('a', 1)], { snapshot: true }));
  const output = { in: 'blob', digest, bytes: content.length, preview: '"' } as const;
  await store.commit(commitOf(lease, [started('b'), { ...ended('b'), step: completed(null, { output } as object) }], { blobs: [{ digest, content }] }));
  await store.requestCancel('s', { requested_at: 1, actor: 'ann', reason: 'r' });
  await store.close();
  const db = new Database(path);
  db.exec(sql);
  db.close();
  const changed = await openSqliteStore({ path });
  onTestFinished(() => changed.close());
  return auditSession(changed, 's');
}

test('an untouched session is told by its events alone', async () => {
  expect(await auditAfter('')).toEqual({ session_id: 's', ok: true, events: 6, steps: 2, checkpoints: 1, differences: [] });
});

test.each([
  ['a step state', "UPDATE step_updates SET state_json = json_set(state_json, '$.attempt', 9) WHERE step_id = 'b'", /^step b$/, /"attempt":9/, /"attempt":1/],
  ['a lost step', "DELETE FROM step_updates WHERE step_id = 'b'", /^step b$/, /^nothing$/, /completed/],
  ['an invented step', "INSERT INTO step_updates SELECT session_id, 'ghost', update_type, 1, 1, 1, 5, status, state_json FROM step_updates WHERE step_id = 'b' AND update_type = 'outcome'", /^step ghost$/, /completed/, /^nothing$/],
  ['the session status', "UPDATE session_states SET state_json = json_set(state_json, '$.status', 'completed')", /^session state: status$/, /completed/, /running/],
  ['a counter', "UPDATE session_states SET state_json = json_set(state_json, '$.attempts_used', 0)", /attempts_used/, /^0$/, /^1$/],
  ['the epoch', 'UPDATE session_states SET epoch = 4', /^epoch$/, /4/, /1/],
  ['a lost cancel', 'UPDATE session_states SET cancel_json = NULL', /^cancel$/, /^nothing$/, /ann/],
  ['the last number', 'UPDATE session_states SET last_seq = 8', /number of the last event/, /8/, /6/],
  ['a checkpoint', "UPDATE checkpoints SET steps_json = replace(steps_json, '\"attempt\":1', '\"attempt\":5')", /^checkpoint 3: step a$/, /"attempt":5/, /"attempt":1/],
  ['the state in a checkpoint', "UPDATE checkpoints SET state_json = json_set(state_json, '$.generation', 3)", /^checkpoint 3: session state: generation$/, /3/, /1/],
  ['a lost event', "DROP TRIGGER events_are_never_deleted; DELETE FROM events WHERE seq = 4", /^event 4$/, /next event is number 5/, /missing/],
  ['lost events at the end', "DROP TRIGGER events_are_never_deleted; DELETE FROM events WHERE seq > 4", /number of the last event/, /6/, /4/],
  ['a lost blob', `DELETE FROM blobs WHERE digest = '${digest}'`, /^output of step b$/, /^nothing$/, /digest/],
  ['a changed blob', `UPDATE blobs SET content = '"other"' WHERE digest = '${digest}'`, /^output of step b$/, /does not match/, /digest/],
])('%s that was changed by hand is found', async (_, sql, what, stored, rebuilt) => {
  const { ok, differences } = await auditAfter(sql);
  expect(ok).toBe(false);
  const found = differences.find((difference) => what.test(difference.what));
  expect(found, JSON.stringify(differences)).toBeDefined();
  expect(found?.stored).toMatch(stored);
  expect(found?.rebuilt).toMatch(rebuilt);
});

test('an unknown session is said to be unknown', async () => {
  const store = await openSqliteStore({ path: ':memory:' });
  onTestFinished(() => store.close());
  await expect(auditSession(store, 'no')).rejects.toMatchObject({ code: 'unknown_session' });
});
