// However a driver leaves its session, what its steps started is ended first, what left the group of its step too.
import { describe, expect, test } from 'vitest';
import { StoreError, type Commit, type Store } from '../../src/index.js';
import { PlanFolder, processesWith } from '../support/plan-command.js';
import { executor, fileStore, loaded, tempDir } from '../support/sessions.js';

const escapes = (n: number) => `{ run: "setsid sleep ${n} > /dev/null 2>&1 & until pgrep -f 'sleep ${n}$' > /dev/null; do sleep 0.02; done" }`;

describe('a process that left the group of its step is ended', () => {
  test.each([
    ['its budget is spent', 3, [], `budget: { attempts: 1 }\nsteps:\n  a: ${escapes(30731)}\n  b: { needs: [a], run: "true" }\n`, 30731],
    ['what it waits for is too far away', 3, ['--max-wait', '1s'], `steps:\n  a: ${escapes(30732)}\n  w: { needs: [a], wait: { for: 1h } }\n`, 30732],
    ['a retry is too far away', 3, ['--max-wait', '1s'], `steps:\n  a: ${escapes(30733)}\n  r: { needs: [a], retry: { delay: 1h, jitter: false }, run: "exit 1" }\n`, 30733],
    ['the session failed', 1, [], `steps:\n  a: ${escapes(30734)}\n  f: { needs: [a], run: "exit 1" }\n`, 30734],
    ['the session completed', 0, [], `steps:\n  a: ${escapes(30735)}\n`, 30735],
    ['the session expired', 1, [], `timeout: 2s\nsteps:\n  a: ${escapes(30736)}\n  b: { needs: [a], run: "sleep 60" }\n`, 30736],
  ])('when %s', async (_, code, options, body, n) => {
    const folder = new PlanFolder(`plan: 1\nname: p\n${body}`);
    const run = await folder.plan(['run', 'p.yaml', '--session', 'S', ...options]);
    expect(processesWith(`sleep ${n}`)).toEqual([]);
    expect(run.code, run.stderr).toBe(code);
  });

  test('when the store fails', async () => {
    const store = await fileStore();
    let started = 0;
    const failing = new Proxy(store, {
      get(target, name: keyof Store) {
        const member = target[name];
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          if (name === 'commit' && (args[0] as Commit).changes[0]?.type === 'step_started' && ++started > 1) throw new StoreError('io', 'the disk is gone');
          return (member as (...all: unknown[]) => unknown).apply(target, args);
        };
      },
    });
    const plan = await loaded(`steps:\n  a: ${escapes(30737)}\n  b: { needs: [a], run: "true" }\n`, tempDir());
    await expect(executor({ store: failing }).run(plan, { sessionId: 'S' }).result).rejects.toThrow('the disk is gone');
    expect(processesWith('sleep 30737')).toEqual([]);
  });
});
