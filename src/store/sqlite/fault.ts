// Errors of SQLite and of the file system, told as StoreErrors.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreError, type StoreFault } from '../../core/error.js';
import { DamagedRow } from './rows.js';

const ADVICE: { [fault in StoreFault]?: string } = {
  full: 'the disk is full; nothing of this commit was stored: free some space and resume',
  read_only: 'it cannot be written; check the permissions of the file and its folder, or choose another with --store',
  corrupt: 'the database is damaged; restore a backup, or choose another with --store',
};

/** Whether another process was in the way, so that trying again helps. */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(error.code);
}

/** An error of SQLite or the file system as StoreError; any other error as it is. */
export function asStoreError(error: unknown, location: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  if (error instanceof DamagedRow) return new StoreError('corrupt', `store ${location}: damaged row: ${error.message}; restore a backup, or choose another store (plan doctor lists every damaged row)`, { cause: error });
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string') return error;
  const fault = faultOf(code, location);
  if (fault === undefined) return error;
  return new StoreError(fault, `store ${location}: ${ADVICE[fault] ?? 'it could not be used'} (${error.message.startsWith(code) ? '' : `${code}: `}${error.message})`, { cause: error });
}

function faultOf(code: string, location: string): StoreFault | undefined {
  if (/^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(code)) return 'busy';
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  if (code === 'SQLITE_READONLY_DBMOVED') return 'io';
  if (code.startsWith('SQLITE_READONLY') || code === 'EROFS' || code === 'EACCES' || code === 'EPERM') return 'read_only';
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'corrupt';
  // A full disk can also show as a failure to grow the shared index or to write a page.
  if (code.startsWith('SQLITE_IOERR')) return isFull(location) ? 'full' : 'io';
  if (code.startsWith('SQLITE_') || /^E[A-Z]+$/.test(code)) return 'io';
  return undefined;
}

function isFull(location: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(location));
    return bavail * bsize < 128 * 1024;
  } catch {
    return false;
  }
}
