// The example program, as its reader would start it: it dies, is started again, and loads every batch once.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../support/sessions.js';

const ROOT = resolve(import.meta.dirname, '../..');

test('examples/embed.mjs survives its own SIGKILL and loads every batch once', () => {
  const folder = tempDir();
  const run = (...args: string[]) => spawnSync(process.execPath, ['examples/embed.mjs', folder, ...args], { cwd: ROOT, encoding: 'utf8' });
  expect(run('--crash').signal).toBe('SIGKILL');
  expect(readFileSync(join(folder, 'loaded.txt'), 'utf8')).toBe('batch-1\n');
  const second = run();
  expect(second.stderr).toBe('');
  expect(second.stdout).toMatch(/completed: \{"rows":14\}/);
  expect(second.stdout).not.toMatch(/step_started first/);
  expect(readFileSync(join(folder, 'loaded.txt'), 'utf8')).toBe('batch-1\nbatch-2\n');
  // A third start finds the session completed and does nothing.
  expect(run().stdout).toMatch(/completed/);
  expect(readFileSync(join(folder, 'loaded.txt'), 'utf8')).toBe('batch-1\nbatch-2\n');
});

test('importing the library installs nothing in the host and changes nothing of it', () => {
  const program = `
    const snap = () => JSON.stringify([['SIGINT','SIGTERM','exit','uncaughtException','unhandledRejection'].map((e) => process.listenerCount(e)), process.cwd(), Object.keys(process.env)]);
    const before = snap();
    const { loadPlan, PlanExecutor } = await import('planwright');
    const { openSqliteStore } = await import('planwright/sqlite');
    const plan = await loadPlan({ definition: { plan: 1, name: 'guest', steps: { x: { run: 'exit 9' } } } });
    const store = await openSqliteStore({ path: process.argv[1] });
    const result = await new PlanExecutor({ store }).run(plan).result;
    await store.close();
    console.log(result.status, before === snap(), process.exitCode);
  `;
  const guest = spawnSync(process.execPath, ['--input-type=module', '-e', program, join(tempDir(), 'x.db')], { cwd: ROOT, encoding: 'utf8' });
  expect(guest.stdout.trim()).toBe('failed true undefined');
  expect(guest.status).toBe(0);
});
