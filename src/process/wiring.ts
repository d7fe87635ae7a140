// Connects a command's stdin, stdout and stderr to this process.
//
// W1. Without capture, stdout and stderr are one pipe, so the log has them in the order they were written.
// W2. Every descriptor opened here is closed by `connect` and `release`, or by `discard`.
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { closeSync, readlinkSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { openInput } from './input-file.js';
import type { StreamName } from './output-sink.js';
import type { Pipe, PipePool } from './pipe-pool.js';

export interface Connected {
  outputs: Array<{ name: StreamName; stream: Readable }>;
  /** How /proc calls the pipes of the outputs; none for sockets, which it calls otherwise at their other end. */
  pipes: ReadonlySet<string>;
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
  /** What the command reads; undefined: nothing, stdin is /dev/null. */
  stdin: string | Uint8Array | undefined;
  capture: boolean;
  pool: PipePool | undefined;
}

// Joins stdout and stderr where no real pipe can be had.
const JOINING = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh'] as const;

/** Prepares the descriptors for one command. */
export async function prepareWiring({ stdin, capture, pool }: WiringNeeds): Promise<Wiring> {
  const pipes: Pipe[] = [];
  try {
    for (let wanted = capture ? 2 : 1; wanted > 0; wanted -= 1) {
      const pipe = await pool?.take();
      if (pipe !== undefined) pipes.push(pipe);
    }
    const input = stdin === undefined ? undefined : openInput(stdin);
    const [out, err] = pipes;
    if (out !== undefined && (err !== undefined || !capture)) return wireByPipes(input, out, err);
    pipes.forEach(discardPipe);
    return wireBySockets(input, capture);
  } catch (error) {
    pipes.forEach(discardPipe);
    throw error;
  }
}

function wireByPipes(input: number | undefined, out: Pipe, err: Pipe | undefined): Wiring {
  return {
    stdio: [input ?? 'ignore', out.write, (err ?? out).write],
    prefix: [],
    connect() {
      for (const end of [input, out.write, err?.write]) if (end !== undefined) closeSync(end);
      const reader = (pipe: Pipe) => new Socket({ fd: pipe.read, readable: true, writable: false });
      const pipes = new Set([out, ...(err === undefined ? [] : [err])].map((pipe) => readlinkSync(`/proc/self/fd/${pipe.read}`)));
      return {
        pipes,
        outputs: [{ name: 'stdout', stream: reader(out) }, ...(err === undefined ? [] : [{ name: 'stderr' as const, stream: reader(err) }])],
        release(drained) {
          out.release(drained);
          err?.release(drained);
        },
      };
    },
    discard() {
      if (input !== undefined) closeSync(input);
      discardPipe(out);
      if (err !== undefined) discardPipe(err);
    },
  };
}

function wireBySockets(input: number | undefined, capture: boolean): Wiring {
  const closeInput = () => {
    if (input !== undefined) closeSync(input);
  };
  return {
    stdio: [input ?? 'ignore', 'pipe', capture ? 'pipe' : 'ignore'],
    prefix: capture ? [] : JOINING,
    connect(child) {
      closeInput();
      return {
        pipes: new Set<string>(),
        outputs: [
          ...(child.stdout === null ? [] : [{ name: 'stdout' as const, stream: child.stdout }]),
          ...(child.stderr === null ? [] : [{ name: 'stderr' as const, stream: child.stderr }]),
        ],
        release: () => undefined,
      };
    },
    discard: closeInput,
  };
}

function discardPipe(pipe: Pipe): void {
  closeSync(pipe.read);
  closeSync(pipe.write);
  pipe.release(true);
}
