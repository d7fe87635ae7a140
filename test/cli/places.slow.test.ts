// Places that a command cannot use: one line that says what to do, and an exit code that tells it.
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { PlanFolder } from '../support/plan-command.js';

const BIN = join(import.meta.dirname, '../../bin/plan.js');
const PLAN = 'plan: 1\nname: p\nsteps: { a: { run: "touch started; test -e go || sleep 30600" } }\n';

test('a deleted current folder', () => {
  const folder = new PlanFolder();
  const script = `mkdir gone && cd gone && rmdir ../gone && exec ${process.execPath} ${BIN} list`;
  const { status, stderr } = spawnSync('sh', ['-c', script], { cwd: folder.dir, encoding: 'utf8' });
  expect(stderr).toBe('error: the current folder was deleted; change to one that exists (cd ..) and try again\n');
  expect(status).toBe(2);
});

test.each(['list', 'doctor', 'show S', 'run p.yaml'])('a store under something that is no folder: plan %s', async (verb) => {
  const folder = new PlanFolder(PLAN);
  const ended = await folder.plan([...verb.split(' '), '--store', '/dev/null/x']);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(/^error: the store \/dev\/null\/x cannot be: a part of its path is a file, not a folder; choose another with --store\n$/);
});

test('no verb changes a file of another program', async () => {
  const folder = new PlanFolder();
  const path = join(folder.dir, 'notes.db');
  writeFileSync(path, 'notes');
  chmodSync(path, 0o644);
  for (const verb of [['list'], ['doctor'], ['show', 'S'], ['cancel', 'S']]) {
    expect((await folder.plan([...verb, '--store', path])).code).toBe(7);
  }
  expect(statSync(path).mode & 0o777).toBe(0o644);
  expect(folder.read('notes.db')).toBe('notes');
});

describe('the store is deleted', () => {
  test('while `plan events -f` and `plan run` use it: both end with exit code 7 and say why', async () => {
    const folder = new PlanFolder(PLAN);
    const run = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('started');
    const follow = folder.start(['events', 'S', '-f']);
    await new Promise((done) => setTimeout(done, 1000));
    rmSync(join(folder.dir, '.plan'), { recursive: true });
    for (const { ended } of [run, follow]) {
      const { code, stderr } = await ended;
      expect(stderr).toMatch(/plan\.db: the file was deleted or replaced while it was open/);
      expect(code).toBe(7);
    }
  });
});

test('cancel says how it stands: a stopped driver, a finally that hangs', async () => {
  const folder = new PlanFolder('plan: 1\nname: p\nsteps: { a: { run: "touch started; sleep 30600" } }\nfinally: { z: { run: "touch cleaning; sleep 30601" } }\n');
  const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
  await folder.untilFile('started');
  child.kill('SIGSTOP');
  const stopped = await folder.plan(['cancel', 'S']);
  expect(stopped.stdout).toMatch(new RegExp(`cancel requested, but process ${child.pid} .*is stopped; .*kill -CONT ${child.pid}`));
  expect((await folder.plan(['resume', 'S'])).stderr).toMatch(new RegExp(`is stopped .*kill -CONT ${child.pid}`));
  child.kill('SIGCONT');
  await folder.untilFile('cleaning');
  const second = await folder.plan(['cancel', 'S']);
  expect(second.stdout).toMatch(/`finally` steps/);
  expect((await ended).code).toBe(5);
});
