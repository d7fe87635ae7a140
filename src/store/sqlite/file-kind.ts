// Whose file a path names, told from its first bytes, before SQLite opens it: opening alone can write beside it, and
// closing can write back the log of another program.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Marks a SQLite file as a Planwright store: "PLAN" in ASCII. */
export const APPLICATION_ID = 0x504c414e;

const HEADER = 'SQLite format 3\0';
const MARK_AT = 68;
const FIRST_PAGE_AT = 100;
const LEAF = 0x0d;

/**
 * store: marked as one. empty: no byte. blank: a SQLite file without a mark and without content, as a crash during a
 * first start leaves it. database: of another program. other: no SQLite file.
 */
export type FileKind = 'store' | 'empty' | 'blank' | 'database' | 'other';

/**
 * Only for a file that no connection of this process has open: closing it here would drop their locks (POSIX locks
 * belong to the process), which is what `openFiles` is asked for.
 */
export function fileKind(path: string): FileKind {
  const handle = openSync(path, 'r');
  try {
    const { size } = fstatSync(handle);
    if (size === 0) return 'empty';
    const head = Buffer.alloc(FIRST_PAGE_AT + 8);
    const length = readSync(handle, head, 0, head.length, 0);
    if (head.toString('latin1', 0, HEADER.length) !== HEADER) return 'other';
    if (length === head.length && head.readUInt32BE(MARK_AT) === APPLICATION_ID) return 'store';
    const pageSize = head.readUInt16BE(16) === 1 ? 65_536 : head.readUInt16BE(16);
    const blank = head.readUInt32BE(MARK_AT) === 0 && size <= pageSize && head[FIRST_PAGE_AT] === LEAF && head.readUInt16BE(FIRST_PAGE_AT + 3) === 0;
    return blank ? 'blank' : 'database';
  } finally {
    closeSync(handle);
  }
}

// Files that this process has open as stores, by device and inode; shared by all copies of this module.
const KEY = Symbol.for('planwright.open-files');
const shared = globalThis as { [KEY]?: Map<string, number> };

export const openFiles = {
  has: (file: FileId): boolean => (shared[KEY]?.get(nameOf(file)) ?? 0) > 0,
  add: (file: FileId): void => count(file, 1),
  remove: (file: FileId): void => count(file, -1),
};

export interface FileId {
  dev: bigint;
  ino: bigint;
}

function nameOf({ dev, ino }: FileId): string {
  return `${dev}:${ino}`;
}

function count(file: FileId, by: number): void {
  const files = (shared[KEY] ??= new Map());
  const left = (files.get(nameOf(file)) ?? 0) + by;
  if (left > 0) files.set(nameOf(file), left);
  else files.delete(nameOf(file));
}
