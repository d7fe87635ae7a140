import { readFileSync } from 'node:fs';
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { asActionError } from '../../src/actions/as-action-error.js';
import { standardActions } from '../../src/actions/standard-actions.js';
import type { FunctionContext, PlanFunction } from '../../src/actions/action.js';
import { ActionError, PermanentError, TransientError, UsageError } from '../../src/core/error.js';
import { createMasker } from '../../src/process/masker.js';
import { abortWhen } from '../process/support.js';
import { contextOf, execute, failureOf, outputOf } from './support.js';

const call = (name: string, args: object = {}) => ({ kind: 'call' as const, function: name, args: args as never });
const functions = (table: { [name: string]: PlanFunction }) => new Map(Object.entries(table));
const failing = async (error: unknown) =>
  (
    await failureOf(call('f'), {
      functions: functions({
        f: () => {
          throw error;
        },
      }),
    })
  ).record;

describe('call', () => {
  test('a registered function gets the args and its context, and its result and outputs are kept', async () => {
    let seen: FunctionContext | undefined;
    const f: PlanFunction = async (args, context) => {
      seen = context;
      context.log('two\nlines');
      return { got: args, n: 3 };
    };
    const context = contextOf(call('f'), { functions: functions({ f }), step: { outputs: { n: { type: 'integer', optional: false } } } });
    expect(await execute(call('f', { a: 1 }), context)).toEqual({ kind: 'completed', output: { outputs: { n: 3 }, result: { got: { a: 1 }, n: 3 } }, log: { bytes: 10, kept: 10, truncated: false, binary: false } });
    expect(seen).toMatchObject({ session_id: 'S', step_id: 'step', attempt: 2 });
    expect(readFileSync(context.log_path as string, 'utf8')).toBe('two\nlines\n');
  });

  test('what a function keeps of its result cannot change what is stored', async () => {
    const kept = { list: [1] };
    const { result } = await outputOf(call('f'), { functions: functions({ f: () => kept }) });
    kept.list.push(2);
    expect(result).toEqual({ list: [1] });
  });

  test('nothing returned is null; what is not JSON is a permanent error with its path', async () => {
    const ring = { a: { list: [] as unknown[] } };
    ring.a.list.push(ring.a);
    const result = (value: unknown) => ({ functions: functions({ f: () => value }) });
    expect((await outputOf(call('f'), result(undefined))).result).toBe(null);
    for (const [value, path] of [[{ a: [1, undefined] }, '$.a[1]'], [NaN, '$'], [{ d: new Date() }, '$.d'], [new Map(), '$'], [{ f: () => 1 }, '$.f'], [10n, '$'], [ring, '$.a.list[0]']] as const) {
      expect((await failureOf(call('f'), result(value))).record).toMatchObject({ class: 'permanent', code: 'not_json', details: { path } });
    }
    expect((await failureOf(call('f'), result(ring))).record.message).toContain('$.a.list[0] is the object at $.a again (a cycle)');
    const twice = { x: 1 };
    expect((await outputOf(call('f'), result([twice, twice]))).result).toEqual([{ x: 1 }, { x: 1 }]);
  });

  test('outputs are typed, missing ones are named', async () => {
    const step = { outputs: { n: { type: 'integer' as const, optional: false } } };
    expect((await failureOf(call('f'), { step, functions: functions({ f: () => ({ n: '3' }) }) })).record).toMatchObject({ class: 'permanent', code: 'output_type' });
    expect((await failureOf(call('f'), { step, functions: functions({ f: () => ({}) }) })).record).toMatchObject({ code: 'output_missing', message: expect.stringContaining('"n"') as string });
    expect((await failureOf(call('f'), { step, functions: functions({ f: () => [3] }) })).record).toMatchObject({ code: 'output_missing' });
  });

  test('an unknown name is a permanent error with the nearest one', async () => {
    const record = (await failureOf(call('fetchUsr'), { functions: functions({ fetchUser: () => 1 }) })).record;
    expect(record).toMatchObject({ class: 'permanent', code: 'function_missing', message: expect.stringContaining('did you mean "fetchUser"') as string });
    expect((await failureOf(call('constructor'))).record.code).toBe('function_missing');
  });

  test('secrets are masked in log, result, outputs and errors', async () => {
    const secret = 's3cr3t-v4lue-9';
    const context = contextOf(call('f'), { secrets: [secret], functions: functions({ f: (_, { log }) => (log(secret), { a: `x${secret}`, [secret]: 1 }), g: () => Promise.reject(new Error(`bad ${secret}`)) }) });
    expect((await outputOf(call('f'), context)).result).toEqual({ a: 'x***', '***': 1 });
    expect(readFileSync(context.log_path as string, 'utf8')).toBe('***\n');
    expect((await failureOf(call('g'), context)).record.message).toBe('bad ***');
  });

  test('a function that ignores the signal is given up on after the grace, one that obeys ends at once', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort({ kind: 'attempt_timeout', limit_ms: 20 }), 20);
    let began = performance.now();
    let settle: (value: unknown) => void = () => undefined;
    const deaf = contextOf(call('f'), { signal: controller.signal, step: { kill_grace: 100 }, functions: functions({ f: () => new Promise((resolve) => (settle = resolve)) }) });
    const { record } = await failureOf(call('f'), deaf);
    expect(record).toMatchObject({ class: 'permanent', code: 'still_running', message: expect.stringContaining('still runs in this process') as string });
    expect(record.message).not.toContain('was ended');
    expect(performance.now() - began).toBeGreaterThan(100);
    expect(performance.now() - began).toBeLessThan(1000);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    expect(getEventListeners(deaf.hurry, 'abort')).toEqual([]);

    // No attempt of the step begins beside it, here or after a resume; once it has settled, the next one may.
    const next = { process_tag: deaf.process_tag, functions: functions({ f: () => 'again' }) };
    expect((await failureOf(call('f'), next)).record).toMatchObject({ class: 'permanent', code: 'still_running' });
    settle(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect((await outputOf(call('f'), next)).result).toBe('again');

    began = performance.now();
    const second = new AbortController();
    setTimeout(() => second.abort({ kind: 'cancelled', actor: 'a', reason: '' }), 20);
    const f: PlanFunction = (_, { signal }) => new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }));
    expect((await failureOf(call('f'), { signal: second.signal, step: { kill_grace: 60_000 }, functions: functions({ f }) })).record.class).toBe('cancelled');
    expect(performance.now() - began).toBeLessThan(1000);
  });

  test('a hurry cuts the grace', async () => {
    const hurry = new AbortController();
    const signal = abortWhen(() => true).signal;
    setTimeout(() => hurry.abort(), 60);
    const began = performance.now();
    expect((await failureOf(call('f'), { signal, hurry: hurry.signal, step: { kill_grace: 60_000 }, functions: functions({ f: () => new Promise(() => undefined) }) })).record.class).toBe('interrupted');
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

describe('classes of errors', () => {
  test('PermanentError and TransientError say it themselves, also as a cause and from another copy of the module (B30)', async () => {
    expect(await failing(new PermanentError('no right', { a: 1 }))).toEqual({ class: 'permanent', code: 'permanent', message: 'no right', details: { a: 1 } });
    expect(await failing(new TransientError('later', { retryAfterMs: 5 }))).toEqual({ class: 'transient', code: 'transient', message: 'later', retry_after_ms: 5 });
    expect(await failing(new Error('outer', { cause: new Error('mid', { cause: new PermanentError('inner') }) }))).toMatchObject({ class: 'permanent', message: 'outer: inner' });
    class PermanentErrorCopy extends Error {
      override name = 'PermanentError';
    }
    expect(await failing(new PermanentErrorCopy('copy'))).toMatchObject({ class: 'permanent', message: 'copy' });
    expect(await failing(new TypeError('wrapped', { cause: new TransientError('inner') }))).toMatchObject({ class: 'transient' });
  });

  test('mistakes of the code are permanent, connections and everything else transient', async () => {
    for (const error of [new TypeError('x is not a function'), new ReferenceError('y'), new SyntaxError('z'), new RangeError('r')]) expect(await failing(error)).toMatchObject({ class: 'permanent', code: 'function_fault' });
    expect(await failing(new Error('any'))).toMatchObject({ class: 'transient', message: 'any' });
    expect(await failing('just text')).toMatchObject({ class: 'transient', message: 'just text' });
    expect(await failing(undefined)).toMatchObject({ class: 'transient' });
    expect(await failing(Object.create(null))).toMatchObject({ class: 'transient' });
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(await failing(new TypeError('fetch failed', { cause: refused }))).toMatchObject({ class: 'transient', code: 'connection' });
    expect(await fetch('http://127.0.0.1:1/').catch((error: unknown) => asActionError(error).record.class)).toBe('permanent'); // a port that fetch blocks
  });

  test('a ring of causes, a long message and a message of many lines do no harm', async () => {
    const ring = new Error('ring');
    ring.cause = ring;
    expect(await failing(ring)).toMatchObject({ class: 'transient', message: 'ring' });
    const secret = 'k'.repeat(100);
    const record = asActionError(new Error(`${'x'.repeat(3990)}${secret}\nmore`), createMasker([secret])).record;
    expect(record.message).toBe(`${'x'.repeat(3990)}*** | more`);
    expect(asActionError(new Error('y'.repeat(10_000))).record.message.length).toBe(4000);
  });

  test('an ActionError without secrets stays the same object; others keep code and class', () => {
    const error = new ActionError({ class: 'budget', code: 'b', message: 'm' });
    expect(asActionError(error, createMasker(['zzz']))).toBe(error);
    expect(asActionError(new UsageError('secret_missing', 'm')).record).toEqual({ class: 'permanent', code: 'secret_missing', message: 'm' });
  });
});

test('there is one standard action for each kind', () => {
  expect(standardActions().map(({ kind }) => kind)).toEqual(['run', 'http', 'call', 'check', 'set', 'wait']);
});
