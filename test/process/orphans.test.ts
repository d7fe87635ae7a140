import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { groupMembers, membersOf } from '../../src/process/end-process-tree.js';
import { endOrphans } from '../../src/process/orphans.js';
import { pidFileOf, readPidFile, writePidFile } from '../../src/process/pid-file.js';
import { hasEnded, readProcess, type ProcessRow } from '../../src/process/process-table.js';
import { makeScratch } from '../../src/process/scratch.js';
import { alive, newDrive, tagOf, tempFolder } from './support.js';

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const isThere = (pid: number) => !hasEnded(readProcess(pid));
const noteOf = (pid: number) => ({ pid, process_start: readProcess(pid)?.start ?? '' });

// A command as a driver that died leaves it behind.
function leaveBehind(script: string, env: { [name: string]: string }, cwd = tempFolder()): number {
  const child = spawn('bash', ['-c', script], { cwd, env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore', detached: true });
  child.unref();
  return child.pid as number;
}

describe('orphans of a dead driver', () => {
  test('those with the tag of the session are ended, with children and escapees; those of other sessions are not', async () => {
    const cwd = tempFolder();
    const drive = newDrive('S1');
    const mine = tagOf(drive);
    const other = tagOf({ ...drive, session_id: 'S10' });
    leaveBehind('trap "" TERM; setsid sleep 331 & sleep 332 & env -i sleep 333 & echo $! > bare; touch up; wait; sleep 334', { PLAN_ATTEMPT_ID: mine }, cwd);
    const stranger = leaveBehind('sleep 335', { PLAN_ATTEMPT_ID: other });
    await until(() => existsSync(join(cwd, 'up')) && alive(mine).length >= 3);
    const report = await endOrphans(drive, { graceMs: 200 });
    expect(report.left).toEqual([]);
    expect(report.ended).toBeGreaterThanOrEqual(4);
    expect(alive(mine)).toEqual([]);
    expect(isThere(Number(readFileSync(join(cwd, 'bare'), 'utf8')))).toBe(false);
    expect(isThere(stranger)).toBe(true);
    expect((await endOrphans({ ...drive, session_id: 'S10' }, { graceMs: 200 })).ended).toBe(1);
    expect(await endOrphans(drive, { graceMs: 200 })).toEqual({ ended: 0, left: [] });
  });

  test('a pid file finds a process whose environment has no tag, and is removed with the private folder', async () => {
    const logs = tempFolder();
    const drive = newDrive();
    const tag = tagOf(drive);
    const scratch = makeScratch().folder;
    const pid = leaveBehind('sleep 336', {});
    mkdirSync(join(logs, 'S'));
    const file = pidFileOf(join(logs, 'S', 'step.1.1.log'));
    writePidFile(file, { ...noteOf(pid), tag, scratch });
    expect(readPidFile(file)).toMatchObject({ pid, tag });
    expect(await endOrphans(drive, { graceMs: 200, logDir: logs })).toEqual({ ended: 1, left: [] });
    expect(isThere(pid)).toBe(false);
    expect([existsSync(file), existsSync(scratch)]).toEqual([false, false]);
  });

  test('a process that took the number of a pid file, or belongs to another session, is left alone', async () => {
    const logs = tempFolder();
    const drive = newDrive();
    const tag = tagOf(drive);
    const pid = leaveBehind('sleep 337', {});
    const reused = pidFileOf(join(logs, 'a.log'));
    writePidFile(reused, { ...noteOf(pid), tag, scratch: tmpdir() });
    writeFileSync(reused, JSON.stringify({ ...readPidFile(reused), process_start: '1' }));
    const foreign = pidFileOf(join(logs, 'b.log'));
    writePidFile(foreign, { ...noteOf(pid), tag: 'another/session/x/1.1' });
    writeFileSync(join(logs, 'broken.pid'), 'not json');
    expect(await endOrphans(drive, { graceMs: 200, logDir: logs })).toEqual({ ended: 0, left: [] });
    expect(isThere(pid)).toBe(true);
    expect([existsSync(reused), existsSync(foreign), existsSync(tmpdir())]).toEqual([false, true, true]);
    process.kill(pid, 'SIGKILL');
  });

  test('a drive ends what its own epoch and older ones left, never what a newer one started', async () => {
    const older = newDrive('S', 3);
    const newer = { ...older, epoch: 4 };
    const [first, second] = [older, newer].map((drive, i) => leaveBehind(`sleep 33${8 + i}`, { PLAN_ATTEMPT_ID: tagOf(drive) })) as [number, number];
    await until(() => alive(tagOf(older)).length + alive(tagOf(newer)).length === 2);
    expect((await endOrphans(older, { graceMs: 200 })).ended).toBe(1);
    expect([isThere(first), isThere(second)]).toEqual([false, true]);
    expect((await endOrphans(newer, { graceMs: 200 })).ended).toBe(1);
    expect(isThere(second)).toBe(false);
  });

  test('what another copy of the store started is left alone while its driver lives, and ended once that is dead', async () => {
    const drive = newDrive();
    const copy = { ...drive, store: { ...drive.store, instance: '2' } };
    const living = leaveBehind('sleep 340', { PLAN_ATTEMPT_ID: tagOf(copy) });
    const [, , driver = ''] = tagOf(copy).split('/');
    const dead = tagOf(copy).replace(driver, driver.replace(`.${process.pid}.`, '.4194305.'));
    const orphan = leaveBehind('sleep 341', { PLAN_ATTEMPT_ID: dead });
    await until(() => alive(tagOf(copy)).length + alive(dead).length === 2);
    expect((await endOrphans({ ...drive, epoch: 9 }, { graceMs: 200 })).ended).toBe(1);
    expect([isThere(living), isThere(orphan)]).toEqual([true, false]);
    process.kill(living, 'SIGKILL');
  });

  test('nothing was ever written: nothing to do', async () => {
    expect(await endOrphans(newDrive(), { graceMs: 100, logDir: '/no/such/folder' })).toEqual({ ended: 0, left: [] });
  });
});

describe('members of a tree', () => {
  const row = (pid: number, ppid: number, pgid = pid, sid = pgid, tag?: string): ProcessRow => ({ pid, ppid, pgid, sid, state: 'S', start: '1', ...(tag === undefined ? {} : { tag }) });
  const members = (rows: ProcessRow[], root: Parameters<typeof membersOf>[0], self = 50) => membersOf(root, rows, self).map((r) => r.pid).sort((a, b) => a - b);

  test('are the group, the session, the tagged, what descends from them, and the groups that they lead', () => {
    const rows = [
      row(9, 8, 9), // grandchild, listed before its parent
      row(8, 7, 8),
      row(7, 1, 7, 7, 'mine'), // escaped, tagged
      row(12, 1, 7), // group of a tagged leader, tag cleared
      row(5, 50, 5),
      row(6, 1, 5),
      row(10, 1, 10, 5), // a job of its own in the session
      row(11, 1, 11, 11, 'other'),
      row(50, 1, 50),
      row(1, 0, 1),
    ];
    expect(members(rows, { pid: 5, hasTag: (tag) => tag === 'mine' })).toEqual([5, 6, 7, 8, 9, 10, 12]);
  });

  test('are none of a group whose number a later process took, but those that were known by number and start', () => {
    const rows = [row(5, 1, 5), row(6, 5, 5), row(7, 1, 7), row(8, 1, 8), row(9, 7, 7)];
    expect(members(rows, { pid: 5, start: '0' })).toEqual([]);
    expect(members(rows, { pid: 5, start: '1', known: [{ pid: 7, start: '1' }, { pid: 8, start: '0' }] })).toEqual([5, 6, 7, 9]);
  });

  test('are none of a real group that another process leads now', () => {
    const pid = leaveBehind('sleep 342', {});
    const start = readProcess(pid)?.start as string;
    expect(groupMembers({ pid, start }).map((one) => one.pid)).toContain(pid);
    expect(groupMembers({ pid, start: '1' })).toEqual([]);
    process.kill(-pid, 'SIGKILL');
  });

  test('are never this process, its ancestors, or process 1, even if they carry the tag', () => {
    const rows = [row(1, 0, 1, 1, 't'), row(40, 1, 40, 40, 't'), row(45, 40, 40, 40, 't'), row(50, 45, 40, 40, 't'), row(60, 50, 60, 60, 't')];
    expect(members(rows, { hasTag: () => true })).toEqual([60]);
  });
});
