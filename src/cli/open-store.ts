// Opens the store of a command, and finds a session in it.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../core/error.js';
import { isSessionId } from '../core/id.js';
import { nearest } from '../core/suggest.js';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.js';
import type { Store, StoredSession } from '../store/store.js';
import type { CliContext } from './cli-context.js';
import { shellWord, storePlace, storesAbove } from './store-path.js';

// Of the newest so many, one that was probably meant is looked for.
const SESSIONS_LOOKED_AT = 1000;

/** Opens the store, does the work, closes it in every ending. `create` makes one where there is none. */
export async function withStore<T>(context: CliContext, options: { create: boolean }, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({ path: storePlace(context).path, create: options.create });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/**
 * Opens the store and finds a session there.
 * UsageError: `bad_session_id`; `unknown_session`, which says so when a store of a folder above has it.
 */
export async function withSession<T>(context: CliContext, sessionId: string, work: (store: Store, session: StoredSession) => Promise<T>): Promise<T> {
  checkSessionId(sessionId);
  if (!existsSync(storePlace(context).path)) throw await unknownSession(context, sessionId);
  return withStore(context, { create: false }, async (store) => {
    const session = await store.getSession(sessionId);
    if (session === undefined) throw await unknownSession(context, sessionId, store);
    return work(store, session);
  });
}

/** UsageError `bad_session_id` for a text that cannot name a session. */
export function checkSessionId(sessionId: string): void {
  if (isSessionId(sessionId)) return;
  throw new UsageError(
    'bad_session_id',
    `${JSON.stringify(sessionId)} cannot name a session: expected letters, digits, "_" and "-", at most 100, and no device name such as "con"`,
  );
}

// Near in spelling, or the only ones that begin so; never taken without being typed: cancel is no verb for guesses.
async function meantSession(store: Store, sessionId: string): Promise<string | undefined> {
  const known = (await store.listSessions({ limit: SESSIONS_LOOKED_AT })).map(({ start }) => start.session_id);
  const longer = known.filter((id) => id.startsWith(sessionId));
  return longer.length === 1 ? longer[0] : nearest(sessionId, known);
}

async function unknownSession(context: CliContext, sessionId: string, store?: Store): Promise<UsageError> {
  const { path, by } = storePlace(context);
  const where = existsSync(path) ? path : `${path} (there is no store)`;
  const elsewhere = by === 'default' ? await sessionAbove(context.cwd, sessionId) : undefined;
  const meant = elsewhere === undefined && store !== undefined ? await meantSession(store, sessionId) : undefined;
  const otherwise = meant === undefined ? 'to see the sessions of a store: plan list' : `did you mean ${meant}?`;
  const advice = elsewhere === undefined ? otherwise : `a folder above has it: add --store ${shellWord(dirname(elsewhere))}`;
  return new UsageError('unknown_session', `there is no session "${sessionId}" in ${where}; ${advice}`);
}

/** Path of the nearest store above a folder that has the session. */
async function sessionAbove(cwd: string, sessionId: string): Promise<string | undefined> {
  for (const path of storesAbove(cwd)) {
    try {
      const store = await openSqliteStore({ path, create: false, busyTimeoutMs: 1000 });
      try {
        if ((await store.getSession(sessionId)) !== undefined) return path;
      } finally {
        await store.close();
      }
    } catch {
      // A store that cannot be opened cannot be pointed to.
    }
  }
  return undefined;
}
