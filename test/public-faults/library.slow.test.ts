// Section 13: embedded in a host program, which imports the package as it is built.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { Case, planText } from './case.js';

const IMPORTS = `
import fs from 'node:fs';
const { loadPlan, PlanExecutor } = await import('planwright');
const { openSqliteStore } = await import('planwright/sqlite');
const store = await openSqliteStore({ path: '.plan/plan.db' });
const plan = async (steps, more = {}) => loadPlan({ definition: { plan: 1, name: 'hosted', ...more, steps } });
`;

// What 20 s without a heartbeat do to a lease.
function expireLease(folder: Case): void {
  const db = new Database(join(folder.dir, '.plan/plan.db'), { timeout: 10_000 });
  expect(db.prepare('UPDATE leases SET expires_at = 1').run().changes).toBe(1);
  db.close();
}

describe.concurrent('a host program', () => {
  test('B67: abort listeners do not pile up on its signal, however the sessions end', async (context) => {
    const folder = new Case(context);
    const ran = await folder.node(`${IMPORTS}
import { getEventListeners } from 'node:events';
const ac = new AbortController();
const count = () => getEventListeners(ac.signal, 'abort').length;
const steps = Object.fromEntries([...Array(60)].map((_, i) => ['s' + i, { run: ':' }]));
const executor = new PlanExecutor({ store, functions: { bad: () => { throw new Error('no'); }, hang: () => new Promise(() => {}) } });
const most = [];
for (let i = 0; i < 3; i++) {
  const handle = executor.run(await plan(steps), { sessionId: 'S' + i, signal: ac.signal });
  most.push(count());
  await handle.result;
}
await executor.run(await plan({ a: { call: { function: 'bad' } } }), { signal: ac.signal }).result;
await executor.run(await plan({ a: { run: ':' } }), { sessionId: 'S0', signal: ac.signal }).result.catch((error) => console.log(error.code));
await executor.run(await plan({ w: { wait: { for: '1h' } } }), { maxWaitMs: 0, signal: ac.signal }).result;
console.log(most.join(), count());
const stopped = executor.run(await plan({ a: { call: { function: 'hang' }, kill_grace: '100ms' } }), { signal: ac.signal });
setTimeout(() => ac.abort(), 300);
console.log((await stopped.result).interrupted, count());
await store.close();
`);
    expect(ran.stdout).toBe('session_exists\n1,1,1 0\ntrue 0\n');
    expect(ran.stderr).toBe('');
    expect(ran.code).toBe(0);
  });

  test('B69: the library installs no handlers, ends nothing, and changes neither folder nor environment nor exit code', async (context) => {
    const folder = new Case(context);
    const ran = await folder.node(`
const snap = () => JSON.stringify([process.eventNames().map(String).sort().map((e) => [e, process.listenerCount(e)]), process.cwd(), process.env, process.umask()]);
const before = snap();
${IMPORTS}
const imported = snap();
const executor = new PlanExecutor({ store });
const handle = executor.run(await plan({ x: { run: 'exit 9' }, y: { run: 'kill -9 $$' } }), { sessionId: 'S' });
await new Promise((done) => setTimeout(done, 50));
const during = snap();
const { status } = await handle.result;
await store.close();
console.log(status, before === imported, before === during, before === snap(), process.exitCode);
`);
    expect([ran.stdout, ran.stderr, ran.code]).toEqual(['failed true true true undefined\n', '', 0]);
  });

  test('B69: a signal to the host is the host\'s own affair', async (context) => {
    const folder = new Case(context);
    const ran = await folder.node(`${IMPORTS}
process.on('SIGTERM', () => setTimeout(() => { console.log('host ended in its own time'); process.exit(0); }, 300));
const executor = new PlanExecutor({ store, functions: { term: () => { process.kill(process.pid, 'SIGTERM'); return new Promise(() => {}); } } });
await executor.run(await plan({ x: { call: { function: 'term' } } }), { sessionId: 'S' }).result;
`);
    expect([ran.stdout, ran.code]).toEqual(['host ended in its own time\n', 0]);
  });

  test('B71: a function that never yields keeps its session, also when its lease has run out meanwhile', async (context) => {
    const folder = new Case(context);
    const host = folder.node(`${IMPORTS}
const spin = () => { fs.appendFileSync('fx', 'f\\n'); const e = Date.now() + 8000; while (Date.now() < e); return 'done'; };
console.log((await new PlanExecutor({ store, functions: { spin } }).run(await plan({ f: { call: { function: 'spin' } } }), { sessionId: 'S' }).result).status);
await store.close();
`);
    await folder.until('the spin', () => folder.exists('fx'));
    expireLease(folder);
    const resumed = await Promise.all([folder.plan(['resume', 'S']), folder.plan(['resume', 'S'])]);
    const retried = await folder.plan(['retry', 'S']);
    expect(resumed.map((one) => one.code)).toEqual([6, 6]);
    expect(resumed[0]?.stderr).toMatch(/driven by process \d+/);
    expect(retried.code).toBe(2); // it has not ended
    expect((await host).stdout).toBe('completed\n');
    expect(folder.lines('fx')).toEqual(['f']);
    expect((await folder.show()).status).toBe('completed');
  });

  test('B71: an owner that is stopped loses its session by time, and writes nothing when it goes on', async (context) => {
    const folder = new Case(context, planText('paused', `steps:
  a: { run: "echo a >> fx; test -e go || sleep 319" }
  b: { needs: [a], run: "echo b >> fx" }
`));
    const paused = folder.bash('plan run p.yaml --session S 2> err & P=$!; echo $P > pid; wait $P; echo "rc $?"');
    await folder.until('the step', () => folder.exists('fx'));
    const tooEarly = await folder.bash('kill -STOP $(cat pid); touch go; plan resume S; echo "rc $?"');
    expect(tooEarly.stdout).toBe('rc 6\n');
    expireLease(folder);
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    expect(folder.lines('fx')).toEqual(['a', 'a', 'b']);
    const events = (await folder.plan(['events', 'S', '--json'])).stdout;
    await folder.bash('kill -CONT $(cat pid)');
    expect((await paused).stdout).toMatch(/rc 6\n$/);
    expect(folder.read('err')).toMatch(/lost the session|driven by|drives it now/);
    expect(folder.lines('fx')).toEqual(['a', 'a', 'b']);
    expect((await folder.plan(['events', 'S', '--json'])).stdout).toBe(events);
    expect((await folder.plan(['audit', 'S'])).code).toBe(0);
  });
});
