import { spawn } from 'node:child_process';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { judgeHolder, processIdentity } from '../../src/process/identity.js';
import { listProcesses, listWithPs, parseStat, readProcess } from '../../src/process/process-table.js';
import { newTag, tempFolder } from './support.js';

const self = processIdentity();
const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('process identity', () => {
  test('this process is alive', () => {
    expect(self.process_start).not.toBe('');
    expect(self.boot_id).not.toBe('');
    expect(judgeHolder(self)).toBe('alive');
  });

  test('a number that another process took is dead, and so is one that nobody has', () => {
    expect(judgeHolder({ ...self, process_start: '1' })).toBe('dead');
    expect(judgeHolder({ ...self, pid: 2 ** 22 - 1 })).toBe('dead');
  });

  test('before another start of the machine it is dead; on another host or in another pid namespace nobody can tell', () => {
    expect(judgeHolder({ ...self, boot_id: 'other' })).toBe('dead');
    expect(judgeHolder({ ...self, host: 'other', boot_id: 'other' })).toBe('unknown');
    expect(judgeHolder({ ...self, host: 'other', boot_id: '' })).toBe('unknown');
    expect(judgeHolder({ ...self, pid_namespace: 'pid:[1]' })).toBe('unknown');
  });

  test('a machine that got another name since is the same machine, until its next start', () => {
    expect(judgeHolder({ ...self, host: 'other' })).toBe('alive');
    expect(judgeHolder({ ...self, host: 'other', process_start: '1' })).toBe('dead');
    expect(judgeHolder({ ...self, host: 'other', pid_namespace: 'pid:[1]' })).toBe('unknown');
  });

  test('a container that started again under the same number: another namespace, or another start time', () => {
    expect(judgeHolder({ ...self, pid_namespace: 'pid:[1]', process_start: '1' })).toBe('unknown');
    expect(judgeHolder({ ...self, process_start: '1' })).toBe('dead');
  });

  test('a stopped process is told from a running and a dead one', async () => {
    const child = spawn('sleep', ['30'], { stdio: 'ignore' });
    const pid = child.pid as number;
    const holder = { ...self, pid, process_start: readProcess(pid)?.start ?? '' };
    expect(judgeHolder(holder)).toBe('alive');
    child.kill('SIGSTOP');
    await until(() => judgeHolder(holder) === 'stopped');
    child.kill('SIGKILL');
    await until(() => judgeHolder(holder) === 'dead');
    expect(judgeHolder(holder)).toBe('dead');
  });
});

describe('process table', () => {
  test('a name with spaces, parentheses and a line end does not shift the fields', () => {
    const rest = 'S 10 20 30 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 20';
    expect(parseStat(`77 (a) R 1 2 (b\n) ${rest}\n`)).toEqual({ pid: 77, ppid: 10, pgid: 20, sid: 30, state: 'S', cpu: 11, start: '987654' });
    expect(parseStat('garbage')).toBeUndefined();
  });

  test.skipIf(!existsSync('/proc/self/stat'))('a real process with such a name is read rightly', () => {
    const program = join(tempFolder(), 'a) S (b c');
    copyFileSync('/bin/sleep', program);
    const child = spawn(program, ['30'], { stdio: 'ignore', detached: true });
    const row = readProcess(child.pid as number);
    child.kill('SIGKILL');
    expect(row).toMatchObject({ pid: child.pid, ppid: process.pid, pgid: child.pid, sid: child.pid });
  });

  test('`ps` gives the same processes and tags as /proc', async () => {
    const tag = newTag();
    const child = spawn('sleep', ['30'], { stdio: 'ignore', detached: true, env: { PLAN_ATTEMPT_ID: tag } });
    const pid = child.pid as number;
    const byProc = listProcesses({ tags: true }).find((row) => row.pid === pid);
    const byPs = listWithPs(true).find((row) => row.pid === pid);
    child.kill('SIGKILL');
    expect(byProc).toMatchObject({ pid, tag, pgid: pid, ppid: process.pid });
    expect(byPs).toMatchObject({ pid, tag, pgid: pid, ppid: process.pid });
    expect(byPs?.start).toMatch(/\d{4}$/);
  });
});
