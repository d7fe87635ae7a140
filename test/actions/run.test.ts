import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OutputSpec, ValueType } from '../../src/plan/plan.js';
import { abortWhen, alive, tempFolder } from '../process/support.js';
import { contextOf, execute, failureOf, outputOf } from './support.js';

const script = (text: string) => ({ kind: 'run' as const, script: text });
const specs = (types: { [name: string]: ValueType | `${ValueType}?` }): { [name: string]: OutputSpec } =>
  Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type: type.replace('?', '') as ValueType, optional: type.endsWith('?') }]));

describe('run', () => {
  test('a script runs in bash with errexit, nounset and pipefail; an argv sees no shell', async () => {
    expect(await execute(script('echo hi'))).toMatchObject({ kind: 'completed', output: { outputs: {}, result: null }, log: { bytes: 3, kept: 3, truncated: false, binary: false } });
    expect((await failureOf(script('false; echo no'))).record).toMatchObject({ class: 'transient', code: 'exit', exit_code: 1 });
    expect((await failureOf(script('echo $UNSET_1'))).record.details?.['tail']).toContain('UNSET_1: unbound variable');
    expect((await failureOf(script('false | true'))).record.exit_code).toBe(1);
    expect(await outputOf({ kind: 'run', argv: ['printf', '%s|', '$HOME', 'a b', '*'] }, { step: { stdout: 'text' } })).toEqual({ outputs: {}, result: '$HOME|a b|*|' });
    expect(await outputOf(script('[ -z "${BASH_VERSION-}" ] || echo "$0 $-"'), { step: { shell: ['bash', '-c'], stdout: 'text' } })).toMatchObject({ result: expect.not.stringContaining('e') as string });
  });

  test('the environment is the documented base, what the step declares, and PLAN_ variables', async () => {
    const host = { PATH: process.env['PATH'], HOME: '/h', LC_ALL: 'C', AWS_SECRET_ACCESS_KEY: 'no', USER: 'u', NODE_OPTIONS: '--no' };
    const context = contextOf(script(''), { host_env: host, env: { MY: 'v', HOME: '/mine' }, step: { stdout: 'lines' } });
    const { result } = await outputOf({ kind: 'run', argv: ['env'] }, context);
    const lines = (result as string[]).filter((line) => !line.startsWith('PLAN_OUTPUT=')).sort();
    expect(lines).toEqual(['HOME=/mine', 'LC_ALL=C', 'MY=v', `PATH=${process.env['PATH'] ?? ''}`, 'PLAN_ATTEMPT=2', `PLAN_ATTEMPT_ID=${context.process_tag}`, 'PLAN_SESSION_ID=S', 'PLAN_STEP_ID=step', 'USER=u']);
  });

  test('stdout is the result as text, json or lines, decoded whole (B20)', async () => {
    const result = async (text: string, stdout: 'text' | 'json' | 'lines') => (await outputOf(script(text), { step: { stdout } })).result;
    expect(await result("printf '\\342\\211'; sleep 0.1; printf '\\244'", 'text')).toBe('\u2264');
    expect(await result('echo " a"; echo; echo', 'text')).toBe(' a\n\n');
    expect(await result('printf "a\\r\\nb\\n\\nc"', 'lines')).toEqual(['a', 'b', '', 'c']);
    expect(await result('true', 'lines')).toEqual([]);
    expect(await result(`echo '{"a": [1.5, null]}'; echo noise >&2`, 'json')).toEqual({ a: [1.5, null] });
  });

  test('stdout that is no JSON, not UTF-8 or too large is a permanent error, and the command was not disturbed', async () => {
    const failure = async (text: string, stdout: 'text' | 'json') => (await failureOf(script(text), { step: { stdout } })).record;
    expect(await failure('echo "{oops"', 'json')).toMatchObject({ class: 'permanent', code: 'not_json', message: expect.stringContaining('{oops') as string });
    expect(await failure("printf 'a\\377'", 'text')).toMatchObject({ class: 'permanent', code: 'not_utf8' });
    const cwd = tempFolder();
    const large = await failureOf(script(`head -c 17000000 /dev/zero; touch done`), { base_dir: cwd, step: { stdout: 'text' } });
    expect(large.record).toMatchObject({ class: 'permanent', code: 'output_too_large', details: { bytes: 17_000_000 } });
    expect(large.log?.bytes).toBe(17_000_000);
    expect(existsSync(join(cwd, 'done'))).toBe(true);
  });

  test('exit codes, signals and shell codes have their classes (B25)', async () => {
    expect((await failureOf(script('echo why >&2; exit 75'))).record).toEqual({ class: 'transient', code: 'exit', message: 'the command ended with exit code 75', exit_code: 75, details: { tail: 'why' } });
    expect((await failureOf(script('no_such_command_7'))).record).toMatchObject({ class: 'permanent', code: 'exit', exit_code: 127 });
    expect((await failureOf(script('kill -9 $$'))).record).toMatchObject({ class: 'transient', code: 'signal', signal: 'SIGKILL', exit_code: 137 });
    expect((await failureOf({ kind: 'run', argv: ['no_such_command_7'] })).record).toMatchObject({ class: 'permanent', code: 'command_not_found' });
  });

  test('a missing working directory and a missing shell are named', async () => {
    const base = tempFolder();
    expect((await failureOf(script('true'), { base_dir: base, step: { cwd: './out' } })).record).toMatchObject({ class: 'permanent', code: 'cwd_missing', message: expect.stringContaining(join(base, 'out')) as string });
    expect((await failureOf(script('true'), { step: { shell: ['fish-7', '-c'] } })).record).toMatchObject({ class: 'permanent', code: 'shell_missing', message: expect.stringContaining('"fish-7"') as string });
    expect((await failureOf(script('true'), { host_env: { PATH: base } })).record.code).toBe('shell_missing');
  });

  test('relative working directories and commands start from the folder of the plan', async () => {
    const base = tempFolder();
    mkdirSync(join(base, 'sub'));
    writeFileSync(join(base, 'sub', 'tool.sh'), '#!/bin/sh\npwd', { mode: 0o755 });
    expect((await outputOf({ kind: 'run', argv: ['./tool.sh'] }, { base_dir: base, step: { cwd: 'sub', stdout: 'text' } })).result).toBe(join(base, 'sub'));
  });

  test('stdin is closed unless given', async () => {
    expect((await outputOf(script('cat'), { step: { stdout: 'text' } })).result).toBe('');
    expect((await outputOf(script('cat /dev/stdin'), { step: { stdout: 'text', stdin: 'given ü\n' } })).result).toBe('given ü');
  });

  test('secrets are masked in log and error (B57)', async () => {
    const secret = 's3cr3t-v4lue-9';
    const context = contextOf(script(''), { env: { TOKEN: secret }, secrets: [secret], step: { stdout: 'text', outputs: specs({ o: 'string' }) } });
    const failure = await failureOf(script('echo using $TOKEN; echo fatal http://u:$TOKEN@host >&2; echo "n=$TOKEN" >> "$PLAN_OUTPUT"; exit 1'), context);
    expect(JSON.stringify(failure.record)).not.toContain(secret);
    expect(failure.record.details).toEqual({ tail: 'using ***\nfatal http://u:***@host' });
    expect(readFileSync(context.log_path as string, 'utf8')).toBe('using ***\nfatal http://u:***@host\n');
    const long = `${'k'.repeat(70)}-${secret}`;
    const typed = await failureOf(script('echo "o=$TOKEN" >> "$PLAN_OUTPUT"'), { env: { TOKEN: long }, secrets: [long], step: { outputs: specs({ o: 'integer' }) } });
    expect(typed.record.message).toContain('found "***"');
  });

  test('a secret that goes on before or behind what an error shows of a line is masked too', async () => {
    const shown = async (secret: string, text: string) =>
      (await failureOf(script('printf %s "$TEXT" >> "$PLAN_OUTPUT"'), { env: { TEXT: text }, secrets: [secret], step: { outputs: specs({ o: 'integer' }) } })).record.message;
    expect(await shown('left-half=right-half', 'left-half=right-half')).toContain('output "***" is not declared');
    expect(await shown('o=right-half', 'o=right-half')).toContain('declared integer, found "***"');
    expect(await shown('ab\ncd\nef', 'ab\ncd\nef')).toContain('found "***"');
  });
});

describe('$PLAN_OUTPUT', () => {
  const write = (text: string, types: Parameters<typeof specs>[0]) => outputOf(script('printf "%s" "$TEXT" >> "$PLAN_OUTPUT"'), { env: { TEXT: text }, step: { outputs: specs(types) } });
  const fail = async (text: string, types: Parameters<typeof specs>[0]) => (await failureOf(script('printf "%s" "$TEXT" >> "$PLAN_OUTPUT"'), { env: { TEXT: text }, step: { outputs: specs(types) } })).record;

  test('lines and JSON lines give typed outputs; text keeps every character', async () => {
    const text = 's= a=b "x" \r\ni=42\nn=1.5e3\nb=true\n\na=[1, {"x": null}]\n{"o": {"k": 1}, "j": "3.10"}\ns2=\n';
    const { outputs } = await write(text, { s: 'string', i: 'integer', n: 'number', b: 'boolean', a: 'array', o: 'object', j: 'string', s2: 'string', gone: 'string?' });
    expect(outputs).toEqual({ s: ' a=b "x" \r', i: 42, n: 1500, b: true, a: [1, { x: null }], o: { k: 1 }, j: '3.10', s2: '' });
  });

  test('the last value of a name counts, and the last line needs no line end', async () => {
    expect((await write('a=1\na=2', { a: 'integer' })).outputs).toEqual({ a: 2 });
    expect((await write('{"a": 1}\n{"a": null}', { a: 'integer?' })).outputs).toEqual({});
  });

  test.each([
    ['x=1', { count: 'integer' }, 'output_undeclared'],
    ['conut=1', { count: 'integer' }, 'did you mean "count"'],
    ['toString=1', { count: 'integer' }, 'output_undeclared'],
    ['a=', { a: 'integer' }, 'output_type'],
    ['a=1.5', { a: 'integer' }, 'output_type'],
    ['a=9007199254740993', { a: 'integer' }, 'output_type'],
    ['a=0x10', { a: 'number' }, 'output_type'],
    ['a=NaN', { a: 'number' }, 'output_type'],
    ['a=yes', { a: 'boolean' }, 'output_type'],
    ['a={}', { a: 'array' }, 'output_type'],
    ['{"a": 1}', { a: 'string' }, 'output_type'],
    ['{"a": null}', { a: 'string' }, 'output_type'],
    ['{"a": 1', { a: 'string' }, 'output_invalid'],
    ['just words', { a: 'string' }, 'line 1 of $PLAN_OUTPUT: expected name=value'],
    ['=x', { a: 'string' }, 'output_invalid'],
    ['', { a: 'string', b: 'string' }, 'its declared output "a", "b"'],
  ] as const)('%j for %j is a permanent error: %s', async (text, types, expected) => {
    const record = await fail(text, types);
    expect(record.class).toBe('permanent');
    expect(`${record.code}: ${record.message}`).toContain(expected);
  });

  test('bytes that are not UTF-8, a file over 16 MiB and a file that is none any more are permanent errors', async () => {
    const code = async (text: string) => (await failureOf(script(text), { step: { outputs: specs({ a: 'string' }) } })).record;
    expect(await code(`printf 'a=\\377\\n' >> "$PLAN_OUTPUT"`)).toMatchObject({ class: 'permanent', code: 'not_utf8' });
    expect(await code(`head -c 17000000 /dev/zero >> "$PLAN_OUTPUT"`)).toMatchObject({ class: 'permanent', code: 'output_too_large' });
    expect(await code(`rm "$PLAN_OUTPUT"; mkfifo "$PLAN_OUTPUT"`)).toMatchObject({ class: 'permanent', code: 'output_invalid' });
    expect(await code(`rm "$PLAN_OUTPUT"; ln -s /etc/passwd "$PLAN_OUTPUT"`)).toMatchObject({ class: 'permanent', code: 'output_invalid' });
    expect(await code(`rm "$PLAN_OUTPUT"`)).toMatchObject({ class: 'permanent', code: 'output_missing' });
  });

  test('the file is private, and its folder goes with the attempt', async () => {
    const { result } = await outputOf(script('stat -c %a "$PLAN_OUTPUT" "$(dirname "$PLAN_OUTPUT")"; dirname "$PLAN_OUTPUT"'), { step: { stdout: 'lines' } });
    const [file, folder, path] = result as string[];
    expect([file, folder]).toEqual(['600', '700']);
    expect(existsSync(path as string)).toBe(false);
    const base = tempFolder();
    await failureOf(script('dirname "$PLAN_OUTPUT" > where; touch "$(dirname "$PLAN_OUTPUT")/more"; exit 1'), { base_dir: base });
    expect(existsSync(readFileSync(join(base, 'where'), 'utf8').trim())).toBe(false);
  });
});

describe('an attempt that is aborted', () => {
  const abortedBy = async (reason: unknown) => {
    const base = tempFolder();
    const context = contextOf(script(''), { base_dir: base, signal: abortWhen(() => existsSync(join(base, 'up')), reason).signal });
    const failure = await failureOf(script('echo working; touch up; sleep 341'), context);
    expect(alive(context.process_tag)).toEqual([]);
    expect(failure.log?.bytes).toBe('working\n'.length);
    return failure.record;
  };

  test('says by its class and code why: limits, cancel, interrupt, lost lease', async () => {
    expect(await abortedBy({ kind: 'attempt_timeout', limit_ms: 1000 })).toMatchObject({ class: 'timeout', code: 'timeout', message: expect.stringContaining('`attempt_timeout` (1.0s)') as string, details: { limit: 'attempt_timeout', limit_ms: 1000, tail: 'working' } });
    expect(await abortedBy({ kind: 'step_timeout', limit_ms: 1000 })).toMatchObject({ class: 'timeout', details: { limit: 'step_timeout' } });
    expect(await abortedBy({ kind: 'session_timeout', limit_ms: 1000 })).toMatchObject({ class: 'timeout', details: { limit: 'session_timeout' } });
    expect(await abortedBy({ kind: 'cancelled', actor: 'ann', reason: 'wrong day' })).toMatchObject({ class: 'cancelled', code: 'cancelled', message: 'cancelled by ann: wrong day' });
    expect(await abortedBy({ kind: 'interrupted' })).toMatchObject({ class: 'interrupted' });
    expect(await abortedBy({ kind: 'lease_lost' })).toMatchObject({ class: 'stale', code: 'lease_lost' });
    expect(await abortedBy(undefined)).toMatchObject({ class: 'interrupted' });
  });

  test('before it starts, starts nothing', async () => {
    const base = tempFolder();
    expect((await failureOf(script('touch up'), { base_dir: base, signal: AbortSignal.abort({ kind: 'cancelled', actor: 'a', reason: '' }) })).record.class).toBe('cancelled');
    expect(existsSync(join(base, 'up'))).toBe(false);
  });
});
