// stdout and stderr as the commands use them.
//
// O1. A reader that went away (EPIPE), or a terminal that is gone (EIO), is no error: what is written then is dropped.
// O2. A slow reader costs waiting where the writer can wait (`drained`), and bounded memory where it cannot (`full`).
import type { Writable } from 'node:stream';
import { safeText } from './safe-text.js';

const GONE = new Set(['EPIPE', 'EIO', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);
/** Bytes waiting for the reader beyond which live output is dropped. */
const FULL_BYTES = 4 * 1024 * 1024;

/** What is needed of process.stdout; any Writable in a test. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

export class Output {
  readonly tty: boolean;
  readonly colour: boolean;
  readonly #stream: OutputStream;
  readonly #cursor: boolean;
  #closed = false;
  #fault: NodeJS.ErrnoException | undefined;
  #waiting: Array<() => void> = [];

  constructor(stream: OutputStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream;
    this.tty = stream.isTTY === true;
    this.#cursor = this.tty && env['TERM'] !== 'dumb';
    this.colour = this.#cursor && (env['NO_COLOR'] ?? '') === '';
    stream.on('error', (error: NodeJS.ErrnoException) => this.#close(error));
    stream.on('close', () => this.#close());
    stream.on('drain', () => this.#wake());
  }

  /** Whether cursor movements make sense here. */
  get live(): boolean {
    return this.#cursor && !this.#closed;
  }

  get columns(): number {
    return this.#stream.columns ?? 80;
  }

  /** Whether nobody reads any more. */
  get gone(): boolean {
    return this.#closed;
  }

  /** The fault that lost output, if it was another than a reader that went away. */
  get fault(): NodeJS.ErrnoException | undefined {
    return this.#fault;
  }

  /** True when so much waits for the reader that more live output should be dropped. */
  get full(): boolean {
    return this.#stream.writableLength > FULL_BYTES;
  }

  /** Writes text; control characters in it do not reach the terminal. */
  text(text: string): void {
    this.bytes(safeText(text, this.colour));
  }

  line(text = ''): void {
    this.text(`${text}\n`);
  }

  /** Writes as it is. */
  bytes(bytes: string | Uint8Array): void {
    if (!this.#closed) this.#stream.write(bytes);
  }

  /** Resolves when the reader has taken most of what was written, or went away. */
  async drained(): Promise<void> {
    if (this.#closed || !this.#stream.writableNeedDrain) return;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when everything written was handed over, or the reader went away. */
  async flushed(): Promise<void> {
    if (this.#closed || this.#stream.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#stream.write('', () => resolve());
    });
  }

  #close(error?: NodeJS.ErrnoException): void {
    if (error !== undefined && !GONE.has(error.code ?? '')) this.#fault ??= error;
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
