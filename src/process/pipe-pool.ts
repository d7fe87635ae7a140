// Real pipes for commands. Node gives a child sockets instead, and opening /dev/stdout or /dev/stderr of a socket
// fails on Linux (`echo x > /dev/stderr`, `tee /dev/stderr`). One pipe also stands for stdout and stderr together, which
// keeps their true order without a shell between.
//
// P1. A pipe is a FIFO whose name is removed as soon as it is open, so nothing stays on disk however this process ends.
//     An O_PATH descriptor keeps it: that opens neither end, and /proc/self/fd/N makes fresh ends of it.
// P2. A pipe is used again only after its reader saw the end: then nobody holds the other end any more.
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from './scratch.js';

const O_PATH = 0o10000000;
const BATCH = 4;
const MOST_IDLE = 32;
const IDLE_MS = 2000;
// Too many open files, too many processes: says nothing about what the system can do.
const TRANSIENT = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOSPC']);

export interface Pipe {
  read: number;
  write: number;
  /** Gives the pipe back; both ends must be closed. `drained`: its reader saw the end. */
  release(drained: boolean): void;
}

export interface PipePool {
  /** A fresh pipe to read from; undefined where the system has none of this kind. */
  take(): Promise<Pipe | undefined>;
}

/** A pool that makes pipes on demand and closes those that stay idle. */
export function createPipePool(): PipePool {
  const idle: number[] = [];
  let usable = process.platform === 'linux';
  let timer: NodeJS.Timeout | undefined;
  let making: Promise<number[] | 'unsupported'> | undefined;
  let wanted = 0;

  const closeIdle = () => {
    for (const fifo of idle.splice(0)) closeSync(fifo);
  };
  const keep = (fifos: readonly number[]) => {
    for (const fifo of fifos) {
      if (idle.length < MOST_IDLE) idle.push(fifo);
      else closeSync(fifo);
    }
    timer ??= setTimeout(() => {
      timer = undefined;
      closeIdle();
    }, IDLE_MS).unref();
  };
  // One batch at a time, as large as is wanted meanwhile: a process for each would need more files than the pipes.
  const makeMore = async () => {
    wanted += 1;
    making ??= makeFifos(Math.min(MOST_IDLE, Math.max(BATCH, wanted))).finally(() => (making = undefined));
    try {
      const made = await making;
      if (made === 'unsupported') usable = false;
      else keep(made.splice(0));
    } finally {
      wanted -= 1;
    }
  };
  const giveBack = (fifo: number, drained: boolean) => {
    if (drained) keep([fifo]);
    else closeSync(fifo);
  };

  return {
    async take() {
      while (usable) {
        const fifo = idle.pop();
        if (fifo === undefined) await makeMore();
        else {
          try {
            return openEnds(fifo, (drained) => giveBack(fifo, drained));
          } catch (error) {
            closeSync(fifo);
            throw error;
          }
        }
      }
      return undefined;
    },
  };
}

function openEnds(fifo: number, release: (drained: boolean) => void): Pipe {
  const path = `/proc/self/fd/${fifo}`;
  // The reader first and without waiting for a writer; the writer then finds a reader.
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const write = openSync(path, constants.O_WRONLY);
    return { read, write, release };
  } catch (error) {
    closeSync(read);
    throw error;
  }
}

async function makeFifos(count: number): Promise<number[] | 'unsupported'> {
  const folder = makePrivateFolder();
  const fifos: number[] = [];
  try {
    const paths = Array.from({ length: count }, (_, i) => join(folder, String(i)));
    await new Promise<void>((resolve, reject) => {
      execFile('mkfifo', ['-m', '600', ...paths], (error) => (error === null ? resolve() : reject(error)));
    });
    for (const path of paths) fifos.push(openSync(path, O_PATH));
    return fifos;
  } catch (error) {
    for (const fifo of fifos) closeSync(fifo);
    if (TRANSIENT.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return 'unsupported'; // no mkfifo command, or a file system without FIFOs
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
