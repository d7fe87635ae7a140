// UTF-8 that arrives in chunks.
import { Buffer, isUtf8 } from 'node:buffer';

/** Length of the unfinished character at the end of some bytes (0 to 3). */
export function unfinishedTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? back : 0;
    }
  }
  return 0;
}

/** Number of bytes at the beginning that continue a character which is not there (0 to 3). */
export function orphanedHead(bytes: Uint8Array): number {
  let count = 0;
  while (count < Math.min(3, bytes.length) && ((bytes[count] as number) & 0xc0) === 0x80) count += 1;
  return count;
}

/** Checks a stream for bytes that are not UTF-8; a character may straddle chunks. */
export class Utf8Check {
  #carry: Buffer = Buffer.alloc(0);
  #broken = false;

  push(chunk: Buffer): void {
    if (this.#broken) return;
    const bytes = this.#carry.length === 0 ? chunk : Buffer.concat([this.#carry, chunk]);
    const tail = unfinishedTail(bytes);
    const whole = bytes.length - tail;
    if (!isUtf8(bytes.subarray(0, whole))) this.#broken = true;
    this.#carry = Buffer.from(bytes.subarray(whole));
  }

  /** True when everything so far was UTF-8 and no character is unfinished. */
  get valid(): boolean {
    return !this.#broken && this.#carry.length === 0;
  }
}
