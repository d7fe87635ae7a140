// Checks of what earlier runs left: sessions that nobody drives, processes that nobody waits for.
import { existsSync } from 'node:fs';
import { SESSION_STATUSES, TERMINAL_SESSION_STATUSES } from '../../core/session-state.js';
import { hasEnded, listProcesses, readProcess, type ProcessRow } from '../../process/process-table.js';
import { belongsTo, parseTag, type AttemptMark, type StoreMark } from '../../process/process-tag.js';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.js';
import type { CliContext } from '../cli-context.js';
import { headOf, type SessionHead } from '../session-head.js';
import { storeOption } from '../store-path.js';
import { plural } from '../words.js';
import type { Check } from './check-machine.js';

const OPEN = SESSION_STATUSES.filter((status) => !(TERMINAL_SESSION_STATUSES as readonly string[]).includes(status));
const MOST = 20;

export async function checkSessions(context: CliContext, path: string): Promise<Check[]> {
  if (!existsSync(path)) return [];
  const store = await openSqliteStore({ path, create: false });
  try {
    // Before the sessions are read: what starts meanwhile belongs to a session that the list may not have.
    const marked = markedProcesses();
    const heads = (await store.listSessions({ status: OPEN, limit: 100_000 })).map((summary) => headOf(summary, context.clock.now()));
    return [...interrupted(context, heads), ...orphans(context, store, heads, marked)];
  } finally {
    await store.close();
  }
}

function interrupted(context: CliContext, heads: readonly SessionHead[]): Check[] {
  const left = heads.filter((head) => head.interrupted);
  if (left.length === 0) return [{ name: 'sessions', status: 'ok', message: `${heads.length} open, none interrupted` }];
  const checks = left.slice(0, MOST).map((head): Check => {
    const owner = head.owner === undefined ? 'nobody drives it' : `its process ${head.owner.pid} is gone`;
    return {
      name: 'sessions',
      status: 'warning',
      message: `${head.session_id} (plan ${head.plan_name}) was ${head.status} and ${owner}`,
      advice: `plan resume ${head.session_id}${storeOption(context)}, or plan cancel ${head.session_id}${storeOption(context)}`,
    };
  });
  const more = left.length - checks.length;
  return more === 0 ? checks : [...checks, { name: 'sessions', status: 'warning', message: `${more} more are interrupted`, advice: 'plan list --status interrupted' }];
}

interface MarkedProcess {
  row: ProcessRow;
  mark: AttemptMark;
}

function markedProcesses(): MarkedProcess[] {
  return listProcesses({ tags: true }).flatMap((row) => {
    const mark = parseTag(row.tag ?? '');
    return mark === undefined || hasEnded(row) ? [] : [{ row, mark }];
  });
}

/** Processes of this store whose session nobody drives, or that an earlier drive of it started. */
function orphans(context: CliContext, store: StoreMark, heads: readonly SessionHead[], marked: readonly MarkedProcess[]): Check[] {
  const epochs = new Map(heads.flatMap(({ session_id: id, owner }) => (owner === undefined || owner.state === 'dead' ? [] : [[id, owner.epoch] as const])));
  const found = marked.flatMap(({ row: { pid, start }, mark }) => {
    const isDriven = mark.epoch >= (epochs.get(mark.session_id) ?? Infinity);
    if (isDriven || !belongsTo(store, mark) || readProcess(pid)?.start !== start) return [];
    return [{ pid, session: mark.session_id, step: mark.step_id }];
  });
  if (found.length === 0) return [{ name: 'orphans', status: 'ok', message: 'no process was left behind' }];
  const bySession = new Map<string, typeof found>();
  for (const one of found) bySession.set(one.session, [...(bySession.get(one.session) ?? []), one]);
  return [...bySession].slice(0, MOST).map(([session, processes]): Check => {
    const pids = processes.map(({ pid }) => pid);
    const steps = [...new Set(processes.map(({ step }) => step))].join(', ');
    const open = heads.some((head) => head.session_id === session);
    return {
      name: 'orphans',
      status: 'warning',
      message: `${plural(pids.length, 'process')} of session ${session}, step ${steps}, still there: ${pids.slice(0, 20).join(' ')}`.replace(/processs/, 'processes'),
      advice: open ? `plan resume ${session}${storeOption(context)} ends them before it goes on` : `kill ${pids.slice(0, 20).join(' ')}`,
    };
  });
}
