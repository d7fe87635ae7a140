// Whole lines out of chunks, for live display.
import { Buffer } from 'node:buffer';
import { unfinishedTail } from './utf8.js';

const NEWLINE = 0x0a;
/** Bytes of a line that are shown; a longer one ends with a note of its true length. */
export const LONGEST_LINE = 16 * 1024;

export class LineSplitter {
  readonly #onLine: (line: string) => void;
  #parts: Buffer[] = [];
  #kept = 0;
  #length = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let at = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      this.#take(chunk.subarray(at, end), false);
      this.#flush();
      at = end + 1;
    }
    if (at < chunk.length) this.#take(chunk.subarray(at), true);
  }

  /** Gives the last line, if no line end closed it. */
  end(): void {
    if (this.#length > 0) this.#flush();
  }

  #take(bytes: Buffer, copy: boolean): void {
    this.#length += bytes.length;
    const piece = bytes.subarray(0, LONGEST_LINE - this.#kept);
    if (piece.length === 0) return;
    this.#kept += piece.length;
    this.#parts.push(copy ? Buffer.from(piece) : piece);
  }

  #flush(): void {
    let line = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
    const cut = this.#length > this.#kept;
    if (cut) line = line.subarray(0, line.length - unfinishedTail(line));
    const text = line.toString('utf8');
    const shown = cut ? `${text} … (line of ${this.#length} bytes)` : text.endsWith('\r') ? text.slice(0, -1) : text;
    this.#parts = [];
    this.#kept = 0;
    this.#length = 0;
    this.#onLine(shown);
  }
}
