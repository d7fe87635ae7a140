// Masks bytes that come in chunks; see the rules of masker.ts.
import { Buffer } from 'node:buffer';
import type { PatternScanner, Range } from './pattern-scanner.js';

export const MARK = Buffer.from('***');
/** More bytes than these that begin a secret are masked at the end of a stream: its writer may have been ended there. */
export const LONGEST_OPEN_END = 3;

export class MaskingStream {
  readonly #scanner: PatternScanner;
  #state = 0;
  #held: Buffer = Buffer.alloc(0);
  /** Covered ranges of what is held. */
  #ranges: Range[] = [];
  /** True when the byte before what is held was covered, so its mark is written already. */
  #inRun = false;

  constructor(scanner: PatternScanner) {
    this.#scanner = scanner;
  }

  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#state = this.#scanner.scan(bytes, this.#held.length, this.#state, this.#ranges);
    return this.#emit(bytes, bytes.length - (this.#scanner.depth[this.#state] as number));
  }

  end(): Buffer {
    // What is held is the beginning of a secret, all of it.
    if (this.#held.length > LONGEST_OPEN_END) this.#ranges = [{ start: 0, end: this.#held.length }];
    this.#state = 0;
    return this.#emit(this.#held, this.#held.length);
  }

  // Writes everything before `until`, keeps the rest.
  #emit(bytes: Buffer, until: number): Buffer {
    const parts: Buffer[] = [];
    const later: Range[] = [];
    let at = 0;
    for (const { start, end } of this.#ranges) {
      if (start >= until) {
        later.push({ start: start - until, end: end - until });
        continue;
      }
      if (start > at) parts.push(bytes.subarray(at, start));
      if (!(this.#inRun && start === 0)) parts.push(MARK);
      at = Math.min(end, until);
      if (end > until) later.push({ start: 0, end: end - until });
    }
    if (until > at) parts.push(bytes.subarray(at, until));
    if (until > 0) this.#inRun = at === until;
    this.#ranges = later;
    // A copy, so that a few held bytes do not keep a whole chunk alive.
    this.#held = until === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(until));
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }
}
