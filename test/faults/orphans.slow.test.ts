// Whose processes are ended: those of this store and session, by whatever path, and never those of a later owner.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test, vi } from 'vitest';
import { processTag } from '../../src/process/process-tag.js';
import { alive, PlanFolder, processesWith } from '../support/plan-command.js';
import { executor, fileStore, loaded } from '../support/sessions.js';

/** A step that hangs, with a child that left its group, until `go` is there. */
const hangs = (n: number) => `plan: 1\nname: p\nsteps:\n  a: { run: "test -e go && exit 0; setsid sleep ${n} & touch up; sleep ${n}" }\n`;

/** A driver killed while step `a` hangs; the store lies in `folder.dir/one`. */
async function orphaned(n: number, store = 'one'): Promise<PlanFolder> {
  const folder = new PlanFolder(hangs(n));
  mkdirSync(join(folder.dir, 'one'));
  symlinkSync('one', join(folder.dir, 'link'));
  const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S', '--store', store]);
  await folder.until('both', () => folder.exists('up') && processesWith(`sleep ${n}`).length === 2);
  child.kill('SIGKILL');
  await ended;
  folder.write('go', '');
  return folder;
}

describe('orphans are found', () => {
  test('by resume, when the store is reached through a link', async () => {
    const folder = await orphaned(30711, 'link');
    const resumed = await folder.plan(['resume', 'S', '--store', 'one']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(processesWith('sleep 30711')).toEqual([]);
  });

  test('by doctor and cancel, when the folder of the store was moved', async () => {
    const folder = await orphaned(30712);
    renameSync(join(folder.dir, 'one'), join(folder.dir, 'two'));
    expect((await folder.plan(['doctor', '--store', 'two'])).stdout).toMatch(/warning +orphans: 2 processes of session S, step a/);
    expect((await folder.plan(['cancel', 'S', '--store', 'two'])).code).toBe(0);
    expect(processesWith('sleep 30712')).toEqual([]);
    expect((await folder.plan(['doctor', '--store', 'two'])).stdout).toContain('ok       orphans');
  });

  test('in a copy too, once the driver is dead', async () => {
    const folder = await orphaned(30713);
    cpSync(join(folder.dir, 'one'), join(folder.dir, 'two'), { recursive: true });
    expect((await folder.plan(['resume', 'S', '--store', 'two'])).code).toBe(0);
    expect(processesWith('sleep 30713')).toEqual([]);
  });
});

test('a copy of a store ends nothing that a living driver of the original started', async () => {
  const folder = new PlanFolder(hangs(30714));
  const first = folder.start(['run', 'p.yaml', '--session', 'S', '--store', 'one']);
  await folder.untilFile('up');
  first.child.kill('SIGINT');
  expect((await first.ended).code).toBe(130);
  cpSync(join(folder.dir, 'one'), join(folder.dir, 'two'), { recursive: true });
  // The same session, the same epoch, one driver in each copy.
  const original = folder.start(['resume', 'S', '--store', 'one']);
  await folder.until('both', () => processesWith('sleep 30714').length === 2);
  const theirs = processesWith('sleep 30714').sort();
  folder.write('go', '');
  expect((await folder.plan(['resume', 'S', '--store', 'two'])).code).toBe(0);
  expect(processesWith('sleep 30714').sort()).toEqual(theirs);
  original.child.kill('SIGINT');
  expect((await original.ended).code).toBe(130);
  expect(processesWith('sleep 30714')).toEqual([]);
});

test('a driver stopped while it ends processes touches nothing of the next owner when it goes on', async () => {
  const folder = new PlanFolder(`
plan: 1
name: stopped
steps:
  stubborn:
    run: |
      setsid bash -c 'trap "" TERM; echo $$ > stubborn; while :; do sleep 0.1; done' > /dev/null 2>&1 &
      until test -s stubborn; do sleep 0.02; done
  a:
    needs: [stubborn]
    run: |
      if test -e second; then touch again; sleep 4; echo survived >> fx; exit 0; fi
      touch up; exec sleep 30715
`);
  const old = folder.start(['run', 'p.yaml', '--session', 'S']);
  await folder.untilFile('up');
  old.child.kill('SIGINT');
  // The step is gone; what is left to end does not answer TERM, so the driver is in its grace.
  await folder.until('the end of the step', () => processesWith('sleep 30715').length === 0);
  await new Promise((done) => setTimeout(done, 400));
  old.child.kill('SIGSTOP');
  expect(alive(Number(folder.read('stubborn')))).toBe(true);
  expire(join(folder.dir, '.plan', 'plan.db'));

  folder.write('second', '');
  const next = folder.start(['resume', 'S']);
  await folder.untilFile('again');
  old.child.kill('SIGCONT');
  const first = await old.ended;
  expect(first.code).toBe(6);
  const second = await next.ended;
  expect(second.code, second.stderr).toBe(0);
  expect(folder.lines('fx')).toEqual(['survived']);
});

test('nothing runs beside a process of an earlier driver that cannot be ended', async () => {
  const store = await fileStore();
  const plan = await loaded('steps:\n  w: { wait: { for: 1h } }\n');
  expect((await executor({ store }).run(plan, { sessionId: 'S', maxWaitMs: 0 }).result).status).toBe('waiting_timer');
  const tag = processTag({ store, session_id: 'S', epoch: 1 }, { step_id: 'w', generation: 1, attempt: 1 });
  const orphan = spawn('sleep', ['30716'], { detached: true, stdio: 'ignore', env: { PATH: process.env['PATH'], PLAN_ATTEMPT_ID: tag } });
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  });
  try {
    await expect(executor({ store }).resume('S', { maxWaitMs: 0 }).result).rejects.toThrow(new RegExp(`process ${orphan.pid} of its earlier driver could not be ended`));
  } finally {
    kill.mockRestore();
  }
  expect((await executor({ store }).resume('S', { maxWaitMs: 0 }).result).status).toBe('waiting_timer');
  expect(alive(orphan.pid as number)).toBe(false);
});

/** As if 20 s had passed: the lease of a stopped process ends by time. */
function expire(path: string): void {
  const db = new Database(path);
  db.prepare('UPDATE leases SET expires_at = 0').run();
  db.close();
}
