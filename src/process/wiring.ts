// Connects a command's stdin, stdout and stderr to this process.
//
// W1. Without capture, stdout and stderr are one pipe, so the log has them in the order they were written.
// W2. Every descriptor opened here is closed by `connect` + `release`, or by `discard`.
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { StreamName } from './output-sink.js';
import type { Pipe, PipePool } from './pipe-pool.js';

export interface Connected {
  input?: Writable;
  outputs: Array<{ name: StreamName; stream: Readable }>;
  /** Call when all streams are closed; `drained`: every output was read to its end. */
  release(drained: boolean): void;
}

export interface Wiring {
  stdio: StdioOptions;
  /** Goes before the command where a shell has to join stdout and stderr. */
  prefix: readonly string[];
  /** After a spawn: closes the child's ends here and opens the streams. */
  connect(child: ChildProcess): Connected;
  /** Instead of `connect`, when the spawn failed. */
  discard(): void;
}

export interface WiringNeeds {
  stdin: boolean;
  capture: boolean;
  pool: PipePool | undefined;
}

// Joins stdout and stderr where no real pipe can be had.
const JOINING = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh'] as const;

/** Prepares the descriptors for one command. */
export async function prepareWiring(needs: WiringNeeds): Promise<Wiring> {
  const taken: Array<Pipe | undefined> = [];
  try {
    const { pool } = needs;
    if (pool !== undefined) {
      taken.push(await pool.take('out'));
      if (needs.capture) taken.push(await pool.take('out'));
      if (needs.stdin) taken.push(await pool.take('in'));
    }
  } catch (error) {
    for (const pipe of taken) if (pipe !== undefined) discardPipe(pipe);
    throw error;
  }
  const pipes = taken.filter((pipe) => pipe !== undefined);
  if (pipes.length === 0 || pipes.length < taken.length) {
    pipes.forEach(discardPipe);
    return wireBySockets(needs);
  }
  return wireByPipes(needs, pipes);
}

function wireByPipes(needs: WiringNeeds, pipes: Pipe[]): Wiring {
  const out = pipes[0] as Pipe;
  const err = needs.capture ? (pipes[1] as Pipe) : undefined;
  const input = needs.stdin ? (pipes.at(-1) as Pipe) : undefined;
  return {
    stdio: [input?.read ?? 'ignore', out.write, (err ?? out).write],
    prefix: [],
    connect() {
      closeSync(out.write);
      if (err !== undefined) closeSync(err.write);
      if (input !== undefined) closeSync(input.read);
      const reader = (pipe: Pipe) => new Socket({ fd: pipe.read, readable: true, writable: false });
      return {
        ...(input === undefined ? {} : { input: new Socket({ fd: input.write, readable: false, writable: true }) }),
        outputs: [
          { name: 'stdout', stream: reader(out) },
          ...(err === undefined ? [] : [{ name: 'stderr' as const, stream: reader(err) }]),
        ],
        release(drained) {
          out.release(drained);
          err?.release(drained);
          // Whether anybody still reads the stdin pipe is not known.
          input?.release(false);
        },
      };
    },
    discard: () => pipes.forEach(discardPipe),
  };
}

function wireBySockets(needs: WiringNeeds): Wiring {
  return {
    stdio: [needs.stdin ? 'pipe' : 'ignore', 'pipe', needs.capture ? 'pipe' : 'ignore'],
    prefix: needs.capture ? [] : JOINING,
    connect(child) {
      return {
        ...(child.stdin === null ? {} : { input: child.stdin }),
        outputs: [
          ...(child.stdout === null ? [] : [{ name: 'stdout' as const, stream: child.stdout }]),
          ...(child.stderr === null ? [] : [{ name: 'stderr' as const, stream: child.stderr }]),
        ],
        release: () => undefined,
      };
    },
    discard: () => undefined,
  };
}

function discardPipe(pipe: Pipe): void {
  closeSync(pipe.read);
  closeSync(pipe.write);
  pipe.release(true);
}
