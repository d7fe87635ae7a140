// Reads a plan file: text in UTF-8, of a size that can be handled.
import { Buffer } from 'node:buffer';
import type { Stats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import type { ProblemCode } from './problem-code.js';

export const MAX_BYTES = 32 * 1024 * 1024;
/** Lines cost more than characters: a plan of 100,000 steps has about a million. */
export const MAX_LINES = 2_000_000;

export interface SourceFault {
  code: ProblemCode;
  message: string;
  hint?: string;
}

/**
 * The text of a file without its byte order mark, or why there is none. Beside files, what another program writes may be
 * read: the standard input and pipes of this process (`/dev/stdin`, `/dev/fd/63` of a shell's `<(…)`).
 */
export async function readSource(path: string): Promise<{ text: string } | { fault: SourceFault }> {
  try {
    // Before it is opened: opening a pipe in a folder waits until someone writes to it.
    const fault = kindFault(path, await stat(path));
    if (fault !== undefined) return { fault };
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      if (size > MAX_BYTES) return { fault: tooLarge(size) };
      const bytes = await readBounded(file);
      return bytes.length > MAX_BYTES ? { fault: tooLarge(bytes.length) } : decode(bytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    return { fault: accessFault(path, error as NodeJS.ErrnoException) };
  }
}

/** What this process was given to read. */
export const OWN_INPUT = /^\/(?:dev\/stdin|dev\/fd\/\d+|proc\/self\/fd\/\d+)$/;

function kindFault(path: string, found: Stats): SourceFault | undefined {
  if (found.isFile() || found.isDirectory()) return undefined;
  if (OWN_INPUT.test(path) && (found.isFIFO() || found.isSocket())) return undefined;
  const kind = found.isFIFO() ? 'a named pipe' : found.isSocket() ? 'a socket' : 'a device';
  return { code: 'file_not_readable', message: `expected a plan file, found ${kind}: ${path}` };
}

// The size of a pipe, or of a file that grows, is known only when it was read.
async function readBounded(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let total = 0; total <= MAX_BYTES; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(256 * 1024), 0, 256 * 1024, null);
    if (bytesRead === 0) break;
    total += bytesRead;
    chunks.push(buffer.subarray(0, bytesRead));
  }
  return Buffer.concat(chunks);
}

function boundedLines(text: string): { text: string } | { fault: SourceFault } {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1 && lines <= MAX_LINES; at = text.indexOf('\n', at + 1)) lines += 1;
  if (lines <= MAX_LINES) return { text };
  return { fault: { code: 'file_too_large', message: 'expected a file of at most 2,000,000 lines, found more', hint: 'remove empty lines; keep data in files of their own' } };
}

/** A text given as such: without its byte order mark, and not too large. */
export function checkSource(text: string): { text: string } | { fault: SourceFault } {
  const bytes = Buffer.byteLength(text);
  return bytes > MAX_BYTES ? { fault: tooLarge(bytes) } : boundedLines(text.startsWith('\ufeff') ? text.slice(1) : text);
}

function decode(bytes: Buffer): { text: string } | { fault: SourceFault } {
  try {
    return boundedLines(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { fault: { code: 'not_utf8', message: 'the file is not UTF-8 text', hint: 'save it as UTF-8' } };
  }
}

function tooLarge(bytes: number): SourceFault {
  return { code: 'file_too_large', message: `expected a file of at most ${MAX_BYTES / 1024 / 1024} MiB, found ${(bytes / 1024 / 1024).toFixed(1)} MiB`, hint: 'keep data in files of their own, and name them in the plan' };
}

function accessFault(path: string, error: NodeJS.ErrnoException): SourceFault {
  switch (error.code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { code: 'file_not_found', message: `there is no file ${path}` };
    case 'EISDIR':
      return { code: 'file_not_readable', message: `expected a plan file, found the folder ${path}`, hint: 'name the file in it' };
    case 'EACCES':
    case 'EPERM':
      return { code: 'file_not_readable', message: `the file ${path} may not be read by this user` };
    default:
      return { code: 'file_not_readable', message: `the file ${path} cannot be read: ${error.message}` };
  }
}
