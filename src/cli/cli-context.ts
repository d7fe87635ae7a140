// What a command gets of the world around it.
import type { Clock } from '../core/clock.js';
import type { Output } from './output.js';

export interface CliContext {
  out: Output;
  err: Output;
  env: NodeJS.ProcessEnv;
  cwd: string;
  clock: Clock;
  /** Value of --store. */
  store: string | undefined;
  /** Registers a listener for a signal of the system; returns what removes it. */
  onSignal(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): () => void;
  /** Registers a listener for an error that nothing caught; returns what removes it. */
  onFault(listener: (error: unknown) => void): () => void;
  /** Registers what decides the exit code when the process ends although no command asked for it; returns what removes it. */
  onSuddenEnd(decide: (code: number) => number): () => void;
  /** Leaves at once, whatever runs: the last resort of somebody who asked three times. */
  leave(code: number): void;
}

/** A verb: does its work, prints, and returns the exit code. */
export type Command<Args extends unknown[]> = (context: CliContext, ...args: Args) => Promise<number>;
