// A command's world in a test: streams that keep what is written, signals that are sent by hand.
import { Writable } from 'node:stream';
import type { CliContext } from '../../src/cli/cli-context.js';
import { Output, type OutputStream } from '../../src/cli/output.js';
import { systemClock, type Clock } from '../../src/core/clock.js';

export class FakeStream extends Writable {
  text = '';
  isTTY = false;
  columns = 80;
  /** Called for every write; throw to fail it. */
  onWrite: ((done: (error?: Error) => void) => void) | undefined;
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    if (this.onWrite !== undefined) return this.onWrite(done);
    this.text += chunk.toString('utf8');
    done();
  }
}

export interface FakeWorld {
  context: CliContext;
  stdout: FakeStream;
  stderr: FakeStream;
  /** Sends a signal to whoever listens; how many did. */
  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): number;
  left: number[];
}

export function fakeWorld(options: { tty?: boolean; env?: NodeJS.ProcessEnv; cwd?: string; store?: string; clock?: Clock } = {}): FakeWorld {
  const stdout = new FakeStream();
  const stderr = new FakeStream();
  stdout.isTTY = stderr.isTTY = options.tty === true;
  const env = options.env ?? {};
  const listeners = new Map<string, Set<() => void>>();
  const left: number[] = [];
  const context: CliContext = {
    out: new Output(stdout as OutputStream, env),
    err: new Output(stderr as OutputStream, env),
    env,
    cwd: options.cwd ?? process.cwd(),
    clock: options.clock ?? systemClock,
    store: options.store,
    onSignal(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener));
      return () => set.delete(listener);
    },
    onFault: () => () => undefined,
    onSuddenEnd: () => () => undefined,
    leave: (code) => void left.push(code),
  };
  return {
    context,
    stdout,
    stderr,
    left,
    signal(name) {
      const heard = [...(listeners.get(name) ?? [])];
      for (const listener of heard) listener();
      return heard.length;
    },
  };
}
