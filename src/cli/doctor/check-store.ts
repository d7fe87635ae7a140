// Checks of the store: its folder, its file, its content.
import { accessSync, constants, existsSync, lstatSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { parsePlanJson } from '../../plan/plan-json.js';
import { fileKind } from '../../store/sqlite/file-kind.js';
import { logFolderOf } from '../../store/sqlite/log-folder.js';
import { networkFilesystem } from '../../store/sqlite/network-filesystem.js';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.js';
import type { StorePlace } from '../store-path.js';
import { plural } from '../words.js';
import type { Check } from './check-machine.js';

const LITTLE_ROOM = 100 * 1024 * 1024;

export async function checkStore({ path, by }: StorePlace): Promise<Check[]> {
  const folder = nearestFolder(dirname(path));
  const checks = [checkFolder(path, folder, by), checkFilesystem(folder), checkRoom(folder)];
  if (!existsSync(path) || checks.some(({ status }) => status === 'error')) return checks;
  // A file of another program is not opened: that could change it.
  const foreign = checkOwner(path);
  return [...checks, ...(foreign === undefined ? [checkMode(path), checkLogs(path), await checkContent(path)] : [foreign])];
}

function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

function checkFolder(path: string, folder: string, by: string): Check {
  const name = 'store';
  const from = by === 'default' ? '' : `, as ${by} says`;
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  } catch {
    return { name, status: 'error', message: `${path} cannot be written by this user${from}`, advice: 'mend the permissions, or choose another with --store' };
  }
  if (existsSync(path)) return { name, status: 'ok', message: `${path}${from}, ${(statSync(path).size / 1024).toFixed(0)} KiB` };
  return { name, status: 'ok', message: `${path}${from}; there is none yet, the first plan run makes it` };
}

function checkFilesystem(folder: string): Check {
  const name = 'file system';
  const network = networkFilesystem(folder);
  if (network === undefined) return { name, status: 'ok', message: 'local' };
  return { name, status: 'error', message: `${folder} lies on a network file system (${network}), where SQLite databases get damaged`, advice: 'choose a local path with --store or PLAN_HOME' };
}

function checkRoom(folder: string): Check {
  const name = 'room';
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const message = `${(free / 1024 / 1024).toFixed(0)} MiB free`;
  return free > LITTLE_ROOM ? { name, status: 'ok', message } : { name, status: 'warning', message, advice: 'free some space: a full disk ends a session until there is room again' };
}

function checkOwner(path: string): Check | undefined {
  if (!statSync(path).isFile()) return { name: 'content', status: 'error', message: `${path} is no file`, advice: 'choose another with --store' };
  const kind = fileKind(path);
  if (kind !== 'other' && kind !== 'database') return undefined;
  return { name: 'content', status: 'error', message: `${path} is ${kind === 'database' ? 'the database of another program' : 'not a Planwright database'}`, advice: 'choose another with --store' };
}

function checkLogs(path: string): Check {
  const name = 'logs';
  const folder = logFolderOf(path);
  const link = lstatSync(folder, { throwIfNoEntry: false });
  if (link === undefined) return { name, status: 'ok', message: `${folder}; there are none yet` };
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return { name, status: 'ok', message: folder };
  return { name, status: 'error', message: `${folder} is no folder${link.isSymbolicLink() ? ', but a link to none' : ''}`, advice: 'move it away' };
}

function checkMode(path: string): Check {
  const name = 'mode';
  const mode = statSync(path).mode & 0o777;
  const text = mode.toString(8).padStart(4, '0');
  if ((mode & 0o077) === 0) return { name, status: 'ok', message: `${text}, only its owner reads it` };
  return { name, status: 'warning', message: `${text}: others can read it`, advice: `chmod 600 ${path}` };
}

// Opened by SQLite itself first, to look at the pages; then as the store does, which checks whose version it is; then
// every row is read.
async function checkContent(path: string): Promise<Check> {
  const name = 'content';
  const advice = 'restore a backup, or choose another with --store';
  try {
    const { default: Database } = await import('better-sqlite3');
    const db = new Database(path, { readonly: true, fileMustExist: true });
    const found = db.pragma('quick_check(1)', { simple: true });
    db.close();
    if (found !== 'ok') return { name, status: 'error', message: `damaged: ${String(found)}`, advice };
    const store = await openSqliteStore({ path, create: false, busyTimeoutMs: 5000 });
    await store.close();
    const { findDamage } = await import('../../store/sqlite/find-damage.js');
    const { rows, count } = findDamage(path, (json) => void parsePlanJson(json));
    if (count === 0) return { name, status: 'ok', message: 'sound' };
    const more = count > rows.length ? `; and ${count - rows.length} more` : '';
    return { name, status: 'error', message: `${plural(count, 'damaged row')}: ${rows.join('; ')}${more}`, advice: `${advice}; sessions that have none of these rows can be used` };
  } catch (error) {
    return { name, status: 'error', message: (error as Error).message };
  }
}
