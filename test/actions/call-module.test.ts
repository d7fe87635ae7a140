// Functions of modules: each call is a process of its own.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { alive } from '../support/plan-command.js';
import { abortWhen, tempFolder } from '../process/support.js';
import { contextOf, execute, failureOf, outputOf } from './support.js';

const call = (name: string, args: object = {}) => ({ kind: 'call' as const, function: name, args: args as never });

function moduleOf(source: string): string {
  const base = tempFolder();
  writeFileSync(join(base, 'm.mjs'), source);
  return base;
}

/** The record of a call of `f` that must fail. */
const failing = async (body: string) => (await failureOf(call('./m.mjs#f'), { base_dir: moduleOf(`export const f = ${body};`) })).record;

describe('a function of a module', () => {
  test('is a named or the default export; what is missing is named', async () => {
    const base = moduleOf('export const twice = (a) => a.n * 2; export default () => "d"; export const text = "t";');
    writeFileSync(join(base, 'bad.mjs'), 'export const = 1');
    expect((await outputOf(call('./m.mjs#twice', { n: 4 }), { base_dir: base })).result).toBe(8);
    expect((await outputOf(call('./m.mjs'), { base_dir: base })).result).toBe('d');
    for (const name of ['#nope', '#text', '#toString', '#__proto__']) {
      expect((await failureOf(call(`./m.mjs${name}`), { base_dir: base })).record).toMatchObject({ class: 'permanent', code: 'function_missing', message: expect.stringContaining('twice') as string });
    }
    expect((await failureOf(call('./none.mjs#a'), { base_dir: base })).record).toMatchObject({ class: 'permanent', code: 'module_failed' });
    expect((await failureOf(call('./bad.mjs#a'), { base_dir: base })).record).toMatchObject({ class: 'permanent', code: 'module_failed' });
  });

  test('gets its context, the environment of its step and the folder of the plan; what it prints is its log', async () => {
    const base = moduleOf(`export const f = (args, { session_id, step_id, attempt, log }) => {
      log('by log'); console.log('by console'); console.error('by error'); process.stdout.write('by write');
      return { session_id, step_id, attempt, cwd: process.cwd(), env: process.env.DECLARED, other: process.env.OTHER ?? null, id: process.env.PLAN_STEP_ID, stdin: process.stdin.read() };
    };`);
    const context = contextOf(call('./m.mjs#f'), { base_dir: base, env: { DECLARED: 'x' }, host_env: { PATH: process.env['PATH'], OTHER: 'y' } });
    const outcome = await execute(call('./m.mjs#f'), context);
    expect(outcome).toMatchObject({ output: { result: { session_id: 'S', step_id: 'step', attempt: 2, cwd: base, env: 'x', other: null, id: 'step', stdin: null } }, log: { bytes: 35 } });
    expect(readFileSync(context.log_path as string, 'utf8')).toBe('by log\nby console\nby error\nby write');
  });

  test('that throws is classed as a registered one; nothing it holds is lost on the way', async () => {
    expect(await failing("() => { throw Object.assign(new Error('no right'), { name: 'PermanentError' }) }")).toMatchObject({ class: 'permanent', message: 'no right' });
    expect(await failing("() => { throw Object.assign(new Error('later'), { record: { class: 'transient', code: 'busy', message: 'later', retry_after_ms: 5 } }) }")).toMatchObject({ class: 'transient', code: 'busy', retry_after_ms: 5 });
    expect(await failing("() => { throw new Error('outer', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) }) }")).toMatchObject({ class: 'transient', code: 'connection' });
    expect(await failing('() => nothing()')).toMatchObject({ class: 'permanent', code: 'function_fault', details: { tail: expect.stringContaining('m.mjs:1') as string } });
    expect(await failing("() => { throw 'just text' }")).toMatchObject({ class: 'transient', message: 'just text' });
    expect(await failing('() => { const a = { b: {} }; a.b.c = a; return a; }')).toMatchObject({ class: 'permanent', code: 'not_json', message: expect.stringContaining('$.b.c is the object at $ again') as string });
    expect(await failing('() => ({ d: new Date() })')).toMatchObject({ code: 'not_json', details: { path: '$.d', found: 'Date' } });
  });

  test('that ends its process has an unknown outcome: a permanent failure, whatever the exit code', async () => {
    for (const code of [0, 3]) {
      const record = await failing(`() => process.exit(${code})`);
      expect(record).toMatchObject({ class: 'permanent', code: 'process_exit', exit_code: code, message: expect.stringContaining('PermanentError or TransientError') as string });
    }
    expect(await failing('() => new Promise(() => {})')).toMatchObject({ class: 'permanent', code: 'never_settled' });
    expect(await failing('() => process.kill(process.pid, "SIGKILL") && new Promise((r) => setTimeout(r, 9000))')).toMatchObject({ class: 'transient', code: 'signal', signal: 'SIGKILL' });
  });

  test('that leaves a rejection or an error to nobody fails its step with that error', async () => {
    expect(await failing("() => { Promise.reject(new Error('afloat')); return 1 }")).toMatchObject({ class: 'transient', message: expect.stringContaining('./m.mjs#f left a rejected promise that nothing awaits: afloat') as string });
    expect(await failing("() => new Promise(() => setTimeout(() => { throw new TypeError('late') }, 5))")).toMatchObject({ class: 'permanent', message: expect.stringContaining('where nothing caught it: TypeError: late') as string });
  });

  test('that leaves things open does not keep its step from ending', async () => {
    const base = moduleOf('export const f = () => { setInterval(() => {}, 1000); return 1; }');
    expect((await outputOf(call('./m.mjs#f'), { base_dir: base })).result).toBe(1);
  });

  test('masks secrets in its log, its result and its errors', async () => {
    const secret = 's3cr3t-v4lue-9';
    const base = moduleOf('export const f = ({ s }) => (console.log(s), [s]); export const g = ({ s }) => { throw new Error("bad " + s) };');
    const context = contextOf(call('./m.mjs#f'), { base_dir: base, secrets: [secret] });
    expect((await outputOf(call('./m.mjs#f', { s: secret }), context)).result).toEqual(['***']);
    expect(readFileSync(context.log_path as string, 'utf8')).toBe('***\n');
    expect((await failureOf(call('./m.mjs#g', { s: secret }), context)).record.message).toBe('bad ***');
  });
});

describe('a function of a module that is told to end', () => {
  const timeout = { kind: 'attempt_timeout', limit_ms: 20 } as const;
  const started = (base: string) => () => readPid(base) !== undefined;
  const readPid = (base: string) => {
    try {
      return Number(readFileSync(join(base, 'pid'), 'utf8')) || undefined;
    } catch {
      return undefined;
    }
  };
  const head = "import { writeFileSync } from 'node:fs'; const up = () => writeFileSync('pid', String(process.pid));";

  test('hears it by context.signal, and may clean up within its grace', async () => {
    const base = moduleOf(`${head} export const f = (_, { signal }) => new Promise((resolve) => { setInterval(() => {}, 1000); signal.addEventListener('abort', () => { console.log('cleaned up'); resolve(1); }); up(); });`);
    const context = contextOf(call('./m.mjs#f'), { base_dir: base, step: { kill_grace: 30_000 }, signal: abortWhen(started(base), timeout).signal });
    const began = performance.now();
    expect((await failureOf(call('./m.mjs#f'), context)).record).toMatchObject({ class: 'timeout', code: 'timeout', message: expect.stringContaining('and was ended') as string });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(readFileSync(context.log_path as string, 'utf8')).toBe('cleaned up\n');
    expect(alive(readPid(base) as number)).toBe(false);
  });

  test('ends at once when it never asked for the signal, and for certain when it blocks', async () => {
    for (const [body, grace] of [['setInterval(() => {}, 1000); up(); return new Promise(() => {})', 30_000], ['up(); for (;;);', 200]] as const) {
      const base = moduleOf(`${head} export const f = () => { ${body} };`);
      const began = performance.now();
      const failure = await failureOf(call('./m.mjs#f'), { base_dir: base, step: { kill_grace: grace }, signal: abortWhen(started(base), timeout).signal });
      expect(failure.record).toMatchObject({ class: 'timeout' });
      expect(performance.now() - began).toBeLessThan(10_000);
      expect(alive(readPid(base) as number)).toBe(false);
    }
  });
});
