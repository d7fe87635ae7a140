import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { groupMembers } from '../../src/process/end-process-tree.js';
import { createPipePool } from '../../src/process/pipe-pool.js';
import { abortWhen, alive, newTag, openFiles, run, tempFolder } from './support.js';

const pidIn = (file: string) => Number(readFileSync(file, 'utf8'));
const isThere = (pid: number) => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
// Two programs that leave the group: by setsid alone, and by a double fork with every descriptor closed.
const ESCAPE = 'setsid bash -c \'echo $$ > escaped; trap "" HUP; sleep 317 & wait\' > /dev/null 2>&1 < /dev/null &';
const DAEMON = '(setsid bash -c "(sleep 318 & echo \\$! > daemon)" > /dev/null 2>&1 < /dev/null &)';

describe('how a command ends', () => {
  test('an exit code is a value', async () => {
    expect((await run('exit 0')).end).toMatchObject({ kind: 'exited', exit_code: 0, left: [] });
    expect((await run('exit 75')).end).toMatchObject({ kind: 'exited', exit_code: 75 });
  });

  test('a death by signal is told with 128 + n and the name of the signal (B25)', async () => {
    expect((await run('kill -9 $$')).end).toMatchObject({ kind: 'signalled', signal: 'SIGKILL', exit_code: 137 });
    expect((await run('kill -TERM $$; sleep 5')).end).toMatchObject({ kind: 'signalled', signal: 'SIGTERM', exit_code: 143 });
  });

  test('stdin is closed unless given: cat ends at once', async () => {
    const { end, ms, log } = await run('cat; echo over');
    expect([end.kind, log]).toEqual(['exited', 'over\n']);
    expect(ms).toBeLessThan(2000);
  });

  test.each([['over a real pipe', {}], ['over sockets', { pool: undefined }]])('a large stdin arrives whole, and one that is not read does no harm, %s', async (_, options) => {
    const stdin = 'x'.repeat(3_000_000);
    expect((await run('wc -c', { stdin, ...options })).log.trim()).toBe('3000000');
    expect((await run('exec 0<&-; sleep 0.1; echo ok', { stdin, ...options })).log).toBe('ok\n');
    expect((await run('cat', { stdin: '', ...options })).log).toBe('');
  });

  test('the environment is exactly what is given', async () => {
    const { log } = await run(['/usr/bin/env'], { env: { A: '1', B: 'two words' }, tag: 'tag/x' });
    expect(log.trim().split('\n').sort()).toEqual([`A=1`, 'B=two words', `PATH=${process.env['PATH'] ?? ''}`, 'PLAN_ATTEMPT_ID=tag/x']);
  });

  test('a missing or wrong working directory, command, interpreter and too many arguments are told apart', async () => {
    const cwd = tempFolder();
    const code = async (argv: string[], options = {}) => {
      const failure = (await run(argv, { cwd, ...options }).catch((error: unknown) => error)) as { record: { code: string; message: string; class: string } };
      expect(failure.record.class).toBe('permanent');
      return `${failure.record.code}: ${failure.record.message}`;
    };
    await run('printf "#!/no/such/interpreter\\n" > bad; chmod +x bad; touch plain', { cwd });
    expect(await code(['true'], { cwd: join(cwd, 'nowhere') })).toContain(`cwd_missing: the working directory ${cwd}/nowhere does not exist`);
    expect(await code(['true'], { cwd: join(cwd, 'plain') })).toContain('is no folder');
    expect(await code(['no-such-command-7'])).toContain('command_not_found: the command "no-such-command-7" is in no folder of PATH');
    expect(await code(['./nope'])).toContain('command_not_found: the command ./nope does not exist');
    expect(await code(['./plain'])).toContain('may not be executed');
    expect(await code(['./bad'])).toContain('interpreter');
    expect(await code(['true', 'x'.repeat(3_000_000)])).toMatch(/argument_list_too_long: .*stdin/);
    expect(await code(['true', 'a\0b'])).toContain('invalid_command');
    expect(await code([''])).toContain('invalid_command');
  });

  test('what a command leaves in its group is ended, after it had time to finish', async () => {
    const cwd = tempFolder();
    const { end, tag, log } = await run('sleep 311 & (sleep 0.3; echo late) & echo $! > pid; echo main', { cwd });
    expect(end).toMatchObject({ kind: 'exited', exit_code: 0, left: [] });
    expect(log).toBe('main\nlate\n');
    expect(alive(tag)).toEqual([]);
  });

  test('what has nothing to do any more is not waited for as long', async () => {
    const { end, tag, ms } = await run('sleep 353 & echo main');
    expect(end).toMatchObject({ kind: 'exited', exit_code: 0, left: [] });
    expect(alive(tag)).toEqual([]);
    expect(ms).toBeLessThan(900);
  });

  test('what still works has its second', async () => {
    const { log } = await run('(end=$(($(date +%s%3N) + 600)); while [ $(date +%s%3N) -lt $end ]; do :; done; echo late) & echo main');
    expect(log).toBe('main\nlate\n');
  });

  test('what left the group on purpose survives a normal end, and its hold of the pipe delays nothing for long', async () => {
    const cwd = tempFolder();
    const { end, ms, tag } = await run('setsid sleep 312 & echo $! > pid; echo main', { cwd });
    expect(end.kind).toBe('exited');
    expect(ms).toBeLessThan(3000);
    expect(alive(tag).length).toBe(1);
    process.kill(alive(tag)[0] as number, 'SIGKILL');
  });
});

test('a process that still holds the pipe of an ended command never writes into the log of the next one', async () => {
  const ghost = await run("setsid bash -c 'trap \"\" PIPE; for i in $(seq 30); do sleep 0.05; echo ghost 2>/dev/null; done' &");
  expect(ghost.end.kind).toBe('exited');
  const next = await Promise.all(Array.from({ length: 4 }, () => run('sleep 0.4; echo me')));
  expect(next.map(({ log }) => log)).toEqual(['me\n', 'me\n', 'me\n', 'me\n']);
  for (const pid of alive(ghost.tag)) spawnSync('kill', ['-9', String(pid)]); // it may have ended meanwhile
});

describe('an abort', () => {
  test('ends a grandchild that holds the pipe, and does not wait for it (B23)', async () => {
    const cwd = tempFolder();
    const controller = abortWhen(() => existsSync(join(cwd, 'pid')));
    const { end, ms, tag } = await run('sleep 311 & echo $! > pid; sleep 20', { cwd, signal: controller.signal });
    expect(end).toMatchObject({ kind: 'aborted', left: [] });
    expect(ms).toBeLessThan(2500);
    expect(isThere(pidIn(join(cwd, 'pid')))).toBe(false);
    expect(alive(tag)).toEqual([]);
  });

  test('gives TERM first, then KILL after the grace', async () => {
    const cwd = tempFolder();
    const polite = await run('trap "echo bye; exit 0" TERM; touch up; while :; do sleep 0.02; done', { cwd, kill_grace: 5000, signal: abortWhen(() => existsSync(join(cwd, 'up'))).signal });
    expect([polite.end.kind, polite.log]).toEqual(['aborted', expect.stringContaining('bye\n')]);
    expect(polite.ms).toBeLessThan(2500);
    const other = tempFolder();
    const stubborn = await run('trap "" TERM; touch up; while :; do sleep 0.05; done', { cwd: other, kill_grace: 400, signal: abortWhen(() => existsSync(join(other, 'up'))).signal });
    expect(stubborn.end).toMatchObject({ kind: 'aborted', left: [] });
    expect(stubborn.ms).toBeGreaterThan(400);
    expect(stubborn.ms).toBeLessThan(3000);
    expect(alive(stubborn.tag)).toEqual([]);
  });

  test('ends a stopped process', async () => {
    const cwd = tempFolder();
    const { end, tag } = await run('touch up; kill -STOP $$; sleep 30', { cwd, signal: abortWhen(() => existsSync(join(cwd, 'up'))).signal });
    expect(end.kind).toBe('aborted');
    expect(alive(tag)).toEqual([]);
  });

  test('ends what left the group: setsid, a double fork with closed descriptors, and a job of its own group', async () => {
    const cwd = tempFolder();
    const script = `${ESCAPE} ${DAEMON}; set -m; sleep 319 & set +m; until [ -s escaped ] && [ -s daemon ]; do sleep 0.02; done; touch up; sleep 30`;
    const { end, tag } = await run(script, { cwd, signal: abortWhen(() => existsSync(join(cwd, 'up'))).signal });
    expect(end).toMatchObject({ kind: 'aborted', left: [] });
    expect(alive(tag)).toEqual([]);
    expect(isThere(pidIn(join(cwd, 'escaped')))).toBe(false);
    expect(isThere(pidIn(join(cwd, 'daemon')))).toBe(false);
  });

  test('ends a child that cleared its environment and left the group, while its parent lives', async () => {
    const cwd = tempFolder();
    const { end } = await run('env -i setsid sleep 320 & echo $! > pid; sleep 0.1; touch up; wait', { cwd, signal: abortWhen(() => existsSync(join(cwd, 'up'))).signal });
    expect(end).toMatchObject({ kind: 'aborted', left: [] });
    expect(isThere(pidIn(join(cwd, 'pid')))).toBe(false);
  });

  test('ends a child that cleared its environment and left the group, and whose parent is gone', async () => {
    const cwd = tempFolder();
    const script = 'bash -c "setsid env -i sleep 351 > /dev/null 2>&1 < /dev/null & echo \\$! > pid; sleep 0.2"; touch up; sleep 30';
    const { end } = await run(script, { cwd, signal: abortWhen(() => existsSync(join(cwd, 'up'))).signal });
    expect(end).toMatchObject({ kind: 'aborted', left: [] });
    expect(isThere(pidIn(join(cwd, 'pid')))).toBe(false);
  });

  test('ends one that was never seen as a child, by its hold of the pipe', async () => {
    const cwd = tempFolder();
    const script = '(setsid env -i bash -c "echo \\$\\$ > pid; exec sleep 352" &); until [ -s pid ]; do sleep 0.01; done; touch up; sleep 30';
    const { end } = await run(script, { cwd, signal: abortWhen(() => existsSync(join(cwd, 'up'))).signal });
    expect(end).toMatchObject({ kind: 'aborted', left: [] });
    expect(isThere(pidIn(join(cwd, 'pid')))).toBe(false);
  });

  test('does not wait for the grace when there is a hurry', async () => {
    const cwd = tempFolder();
    const hurry = new AbortController();
    const signal = abortWhen(() => existsSync(join(cwd, 'up'))).signal;
    signal.addEventListener('abort', () => setTimeout(() => hurry.abort(), 100));
    const { end, ms } = await run('trap "" TERM; touch up; while :; do sleep 0.05; done', { cwd, kill_grace: 60_000, signal, hurry: hurry.signal });
    expect(end.kind).toBe('aborted');
    expect(ms).toBeLessThan(3000);
  });

  test('before the start starts nothing', async () => {
    const cwd = tempFolder();
    const { end } = await run('touch up', { cwd, signal: AbortSignal.abort() });
    expect(end.kind).toBe('aborted');
    const controller = new AbortController();
    const early = run('touch up', { cwd, signal: controller.signal, pool: createPipePool() });
    controller.abort();
    expect((await early).end.kind).toBe('aborted');
    expect(existsSync(join(cwd, 'up'))).toBe(false);
  });
});

test('200 commands leave no open files, no listeners and no processes', async () => {
  const controller = new AbortController();
  const tag = newTag();
  for (let i = 0; i < 8; i += 1) await run('echo warm', { tag, signal: controller.signal });
  const before = openFiles();
  for (let round = 0; round < 25; round += 1) {
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        i === 0 ? run(['no-such-command-7']).catch(() => undefined) : run(i < 4 ? 'echo a' : 'cat; exit 3', { tag, signal: controller.signal, capture: i % 2 === 0, ...(i > 5 ? { stdin: 'x' } : {}) }),
      ),
    );
  }
  // Pipes that wait for the next command: at most 32.
  expect(openFiles()).toBeLessThanOrEqual(before + 32);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  expect(alive(tag)).toEqual([]);
  expect(groupMembers({ pid: 2 ** 22 - 1, start: '1' })).toEqual([]);
});
