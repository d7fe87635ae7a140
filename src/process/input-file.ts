// What a command reads from stdin, as a file without a name: a command may open /dev/stdin, read none of it, or read it
// late, and nobody has to wait or write meanwhile. Shells keep their here-documents the same way.
import { randomBytes } from 'node:crypto';
import { Buffer } from 'node:buffer';
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { inPrivatePlace } from './scratch.js';

/** A descriptor at the beginning of a private file with this content; its name is gone before the content comes. */
export function openInput(content: string | Uint8Array): number {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  return inPrivatePlace((prefix) => writeNameless(`${prefix}input-${randomBytes(8).toString('hex')}`, bytes), bytes.length);
}

function writeNameless(path: string, bytes: Uint8Array): number {
  const file = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path);
    // At positions, so that the descriptor itself still stands at the beginning.
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}
