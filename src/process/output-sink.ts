// Where a command's output goes: log, live lines, the last lines for an error, and the captured stdout.
import { Buffer } from 'node:buffer';
import type { LogSummary } from '../core/log-summary.js';
import { LineSplitter } from './line-splitter.js';
import { LOG_KEEP, openLog, type LogWriter } from './log-writer.js';
import type { Masker } from './masker.js';
import { orphanedHead } from './utf8.js';

export type StreamName = 'stdout' | 'stderr';
export type OnLine = (stream: StreamName, line: string) => void;

/** Bytes of a captured stdout; more is counted, not kept. */
export const CAPTURE_LIMIT = 16 * 1024 * 1024;
// What an error record shows of the output.
const TAIL_BYTES = 2048;
const TAIL_LINES = 10;

export interface Captured {
  /** The bytes as they came, not masked; at most the limit. */
  bytes: Buffer;
  /** How many there were. */
  total: number;
}

/** One stream's way into the sink. */
export interface SinkInput {
  push(chunk: Buffer): void;
  end(): void;
}

export class OutputSink {
  readonly #masker: Masker;
  readonly #log: LogWriter;
  readonly #onLine: OnLine | undefined;
  #tail: Buffer = Buffer.alloc(0);

  constructor(options: { masker: Masker; log_path: string | undefined; log_keep?: number; empty_log?: boolean; onLine?: OnLine | undefined }) {
    this.#masker = options.masker;
    this.#log = openLog(options.log_path, options.log_keep ?? LOG_KEEP, options.empty_log ?? true);
    this.#onLine = options.onLine;
  }

  /** An input for one stream; each masks on its own, so that streams cannot tear each other's secrets. */
  input(name: StreamName): SinkInput {
    const mask = this.#masker.stream();
    const lines = this.#onLine === undefined ? undefined : new LineSplitter(guarded(this.#onLine, name));
    const write = (bytes: Buffer) => {
      if (bytes.length === 0) return;
      this.#log.write(bytes);
      this.#keepTail(bytes);
      lines?.push(bytes);
    };
    return {
      push: (chunk) => write(mask.push(chunk)),
      end: () => {
        write(mask.end());
        lines?.end();
      },
    };
  }

  /** Closes the log. The tail is masked text: the last lines, at most 2 KiB. */
  end(): { log: LogSummary; tail: string } {
    return { log: this.#log.end(), tail: lastLines(this.#tail) };
  }

  #keepTail(bytes: Buffer): void {
    this.#tail =
      bytes.length >= TAIL_BYTES
        ? Buffer.from(bytes.subarray(bytes.length - TAIL_BYTES))
        : Buffer.concat([this.#tail.subarray(Math.max(0, this.#tail.length + bytes.length - TAIL_BYTES)), bytes]);
  }
}

function lastLines(bytes: Buffer): string {
  const text = bytes.subarray(bytes.length < TAIL_BYTES ? 0 : orphanedHead(bytes)).toString('utf8');
  return text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}

// A display that throws must not change how the command ends.
function guarded(onLine: OnLine, name: StreamName): (line: string) => void {
  return (line) => {
    try {
      onLine(name, line);
    } catch {
      // Nobody to tell: the caller's own callback failed.
    }
  };
}

/** Keeps the bytes of a stream up to a limit. */
export class Capture {
  readonly #limit: number;
  readonly #parts: Buffer[] = [];
  #kept = 0;
  #total = 0;

  constructor(limit: number = CAPTURE_LIMIT) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    this.#total += chunk.length;
    const piece = chunk.subarray(0, this.#limit - this.#kept);
    if (piece.length === 0) return;
    this.#kept += piece.length;
    this.#parts.push(piece);
  }

  end(): Captured {
    return { bytes: Buffer.concat(this.#parts), total: this.#total };
  }
}
