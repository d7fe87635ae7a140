import { describe, expect, test } from 'vitest';
import { FakeStream } from './support.js';
import { Output, type OutputStream } from '../../src/cli/output.js';

function output(stream: FakeStream, env: NodeJS.ProcessEnv = {}): Output {
  return new Output(stream as OutputStream, env);
}

const failing = (code: string) => (done: (error?: Error) => void) => done(Object.assign(new Error(code), { code }));

describe('stdout', () => {
  test('has colour only on a terminal, without NO_COLOR, and not on a dumb one', () => {
    const terminal = () => Object.assign(new FakeStream(), { isTTY: true });
    expect(output(terminal()).colour).toBe(true);
    expect(output(new FakeStream()).colour).toBe(false);
    expect(output(terminal(), { NO_COLOR: '1' }).colour).toBe(false);
    expect(output(terminal(), { TERM: 'dumb' }).colour).toBe(false);
  });

  test('a reader that went away is no error: writing goes on into nothing and waits for nothing', async () => {
    const stream = new FakeStream();
    stream.onWrite = failing('EPIPE');
    const out = output(stream);
    out.line('one');
    await new Promise((resolve) => setImmediate(resolve));
    out.line('two');
    await out.drained();
    await out.flushed();
    expect(out.gone).toBe(true);
    expect(out.fault).toBeUndefined();
  });

  test('a full disk is a fault', async () => {
    const stream = new FakeStream();
    stream.onWrite = failing('ENOSPC');
    const out = output(stream);
    out.line('one');
    await new Promise((resolve) => setImmediate(resolve));
    expect(out.fault?.code).toBe('ENOSPC');
  });

  test('a slow reader makes the writer wait, and what must not wait is told that it is full', async () => {
    const stream = new FakeStream();
    const pending: Array<() => void> = [];
    stream.onWrite = (done) => void pending.push(done);
    const out = output(stream);
    out.bytes('x'.repeat(5 * 1024 * 1024));
    expect(out.full).toBe(true);
    let drained = false;
    const waiting = out.drained().then(() => (drained = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(drained).toBe(false);
    pending.shift()?.();
    await waiting;
    expect(out.full).toBe(false);
  });

  test('text of other origin cannot command the terminal', () => {
    const stream = new FakeStream();
    output(stream).line('a\u001b[2Jb');
    expect(stream.text).toBe('ab\n');
  });
});
