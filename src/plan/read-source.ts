// Reads a plan file: text in UTF-8, of a size that can be handled.
import { Buffer } from 'node:buffer';
import { open } from 'node:fs/promises';
import type { ProblemCode } from './problem-code.js';

export const MAX_BYTES = 32 * 1024 * 1024;

export interface SourceFault {
  code: ProblemCode;
  message: string;
  hint?: string;
}

/** The text of a file without its byte order mark, or why there is none. */
export async function readSource(path: string): Promise<{ text: string } | { fault: SourceFault }> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      if (size > MAX_BYTES) return { fault: tooLarge(size) };
      const bytes = await file.readFile();
      if (bytes.length > MAX_BYTES) return { fault: tooLarge(bytes.length) };
      return decode(bytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    return { fault: accessFault(path, error as NodeJS.ErrnoException) };
  }
}

/** A text given as such: without its byte order mark, and not too large. */
export function checkSource(text: string): { text: string } | { fault: SourceFault } {
  const bytes = Buffer.byteLength(text);
  return bytes > MAX_BYTES ? { fault: tooLarge(bytes) } : { text: text.startsWith('\ufeff') ? text.slice(1) : text };
}

function decode(bytes: Buffer): { text: string } | { fault: SourceFault } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
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
