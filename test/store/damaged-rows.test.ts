// Values that no program like this wrote, in a database that SQLite finds sound.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { auditSession, StoreError } from '../../src/index.js';
import { list } from '../../src/cli/commands/list.js';
import { show } from '../../src/cli/commands/show.js';
import { logs } from '../../src/cli/commands/logs.js';
import { events } from '../../src/cli/commands/events.js';
import { audit } from '../../src/cli/commands/audit.js';
import { doctor } from '../../src/cli/commands/doctor.js';
import { exitCodeOfError } from '../../src/cli/exit-code.js';
import { fakeWorld } from '../cli/support.js';
import { openSqliteStore } from '../../src/store/sqlite/index.js';
import { executor, loaded, tempDir } from '../support/sessions.js';

const PLAN = `steps:
  a: { set: { x: 1 } }
  b: { needs: [a], check: "1 == 2" }
  big: { set: { y: "${'y'.repeat(9000)}" } }`;

/** A store with two ended sessions, one of them changed by SQL; the verbs that a user may call on it. */
async function damaged(sql: string) {
  const path = join(tempDir(), 'plan.db');
  const store = await openSqliteStore({ path });
  const one = executor({ store });
  for (const id of ['S', 'T']) await one.run(await loaded(PLAN), { sessionId: id }).result;
  await store.close();
  const db = new Database(path);
  db.pragma('foreign_keys = OFF');
  db.exec('DROP TRIGGER events_are_never_changed');
  db.exec(sql);
  db.close();
  const verb = async (call: (world: ReturnType<typeof fakeWorld>['context']) => Promise<number>) => {
    const world = fakeWorld({ store: path });
    const answer = await call(world.context).then((code) => ({ code, message: '' }), (error: unknown) => ({ code: exitCodeOfError(error), message: String(error), error }));
    return { ...answer, stdout: world.stdout.text };
  };
  return { path, verb };
}

const set = (table: string, column: string, value: string, where = "session_id = 'S'") => `UPDATE ${table} SET ${column} = ${value} WHERE ${where}`;

describe('damage in a row is told with its place and exit code 7, and doctor and audit find it', () => {
  test.each<[string, string, RegExp]>([
    ['no JSON', set('session_states', 'state_json', "'{'"), /session_states, session S, state_json: holds no JSON/],
    ['another JSON', set('session_states', 'state_json', "'[1]'"), /state_json: expected an object, found \[1\]/],
    ['a status that there is not', set('session_states', 'state_json', `json_set(state_json, '$.status', 'finished')`), /state_json: status: expected a status of a session, found "finished"/],
    ['a time beyond all time', set('session_states', 'state_json', `json_set(state_json, '$.ended_at', 1e300)`), /ended_at: expected a time/],
    ['a number beyond all numbers', set('session_states', 'updated_at', '9223372036854775807'), /session_states, session S: updated_at: expected a time/],
    ['a negative count', set('session_states', 'last_seq', '-5'), /last_seq: expected a whole number/],
    ['a start without its params', set('sessions', 'start_json', `json_remove(start_json, '$.params')`), /sessions, session S, start_json: params: expected an object, found nothing/],
    ['a step without its output', `DELETE FROM checkpoints; ${set('step_updates', 'state_json', `json_remove(state_json, '$.output')`, "session_id = 'S' AND step_id = 'a'")}`, /step_updates, session S, step a, state_json: output/],
    ['an event that is no JSON', set('events', 'step_json', "'x'", "session_id = 'S' AND seq = 3"), /events, session S, seq 3, step_json: holds no JSON/],
    ['an event of no known type', set('events', 'type', "'step_exploded'", "session_id = 'S' AND seq = 3"), /events, session S, seq 3: type: expected a type of event/],
    ['a checkpoint', set('checkpoints', 'steps_json', "'{}'"), /checkpoints, session S, seq \d+, steps_json: expected a list/],
    ['a cancel', set('session_states', 'cancel_json', `'{"actor":1}'`), /cancel_json: requested_at/],
    ['a plan that was changed', "UPDATE plans SET plan_json = replace(plan_json, '1 == 2', '1 == 1')", /plans, .*plan_json: the stored plan was changed/],
    ['a plan that is no JSON', "UPDATE plans SET plan_json = 'x'", /plans, .*plan_json/],
  ])('%s', async (_, sql, message) => {
    const { path, verb } = await damaged(sql);
    const checked = await verb((context) => doctor(context, {}));
    expect(checked).toMatchObject({ code: 7, stdout: expect.stringMatching(message) as unknown });
    const audited = await verb((context) => audit(context, 'S', {}));
    expect(audited).toMatchObject({ code: 7, message: expect.stringMatching(message) as unknown });
    expect(audited.message).toContain(path);
    expect(audited.message).toContain('restore a backup');
    // Whatever a verb reads of it, it either does not need the row or says which one is damaged.
    for (const call of [list, (c: never) => show(c, 'S', undefined, {}), (c: never) => logs(c, 'S', undefined, {}), (c: never) => events(c, 'S', {})] as Array<(c: never, o: object) => Promise<number>>) {
      const told = await verb((context) => call(context as never, {}));
      expect(told.code === 0 || (told.code === 7 && message.test(told.message)), told.message).toBe(true);
    }
    const store = await openSqliteStore({ path });
    const resumed: unknown = await executor({ store }).resume('S').result.catch((error: unknown) => error);
    if (resumed instanceof Error) expect(resumed).toBeInstanceOf(StoreError);
    if (!sql.includes('plans')) expect((await auditSession(store, 'T')).ok).toBe(true);
    await store.close();
  });

  test('a session whose row is gone, and a value whose content is another', async () => {
    const { verb } = await damaged("DELETE FROM session_states WHERE session_id = 'S'; UPDATE blobs SET content = content || ' ' WHERE length(content) > 8000");
    const { code, stdout } = await verb((context) => doctor(context, {}));
    expect(code).toBe(7);
    expect(stdout).toMatch(/sessions, session S: its state is missing/);
    expect(stdout).toMatch(/blobs, digest [0-9a-f]{64}: its content does not match/);
    const sound = await damaged('SELECT 1');
    expect((await sound.verb((context) => doctor(context, {}))).stdout).toContain('content: sound');
  });

  test('one damaged session does not fail the writes of others beside it', async () => {
    const { path } = await damaged(set('session_states', 'state_json', "'{'"));
    const store = await openSqliteStore({ path });
    const request = { requested_at: 1, actor: 'a', reason: 'r' };
    const plan = await loaded('steps: { w: { wait: { for: 1h } } }');
    await executor({ store }).run(plan, { sessionId: 'U', maxWaitMs: 0 }).result;
    const [good, bad] = await Promise.allSettled([store.requestCancel('U', request), store.requestCancel('S', request)]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { fault: 'corrupt' } });
    expect(good.status).toBe('fulfilled');
    await store.close();
  });
});
