// What a command reads from stdin, as a file without a name: a command may open /dev/stdin, read none of it, or read it
// late, and nobody has to wait or write meanwhile. Shells keep their here-documents the same way.
import { randomBytes } from 'node:crypto';
import { Buffer } from 'node:buffer';
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCRATCH_PREFIX } from './scratch.js';

/** A descriptor at the beginning of a private file with this content; its name is gone before the content comes. */
export function openInput(content: string | Uint8Array): number {
  const path = join(tmpdir(), `${SCRATCH_PREFIX}input-${randomBytes(8).toString('hex')}`);
  const file = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path);
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
    // At positions, so that the descriptor itself still stands at the beginning.
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}
