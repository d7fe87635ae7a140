// plan list: the sessions of a store, newest first.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatDuration } from '../../core/duration.js';
import { UsageError } from '../../core/error.js';
import { SESSION_STATUSES, TERMINAL_SESSION_STATUSES, type SessionStatus } from '../../core/session-state.js';
import type { SessionFilter, Store } from '../../store/store.js';
import type { CliContext } from '../cli-context.js';
import { EXIT } from '../exit-code.js';
import { withStore } from '../open-store.js';
import { createPaint } from '../paint.js';
import { parseCount } from '../parse-options.js';
import { jsonLine, oneLine } from '../safe-text.js';
import { headOf, shownStatus, type SessionHead } from '../session-head.js';
import { shellWord, storePlace, storesAbove } from '../store-path.js';
import { tableLines } from '../table.js';
import { dateTime } from '../words.js';

export interface ListOptions {
  status?: string[];
  plan?: string;
  limit?: string;
  json?: boolean;
}

const DEFAULT_LIMIT = 50;
const OPEN: SessionStatus[] = SESSION_STATUSES.filter((status) => !(TERMINAL_SESSION_STATUSES as readonly string[]).includes(status));

export async function list(context: CliContext, options: ListOptions): Promise<number> {
  const limit = options.limit === undefined ? DEFAULT_LIMIT : parseCount('--limit', options.limit, 1);
  const wanted = statuses(options.status);
  const { path } = storePlace(context);
  const heads = existsSync(path) ? await withStore(context, { create: false }, (store) => findHeads(store, wanted, options.plan, limit, context.clock.now())) : [];
  if (options.json === true) context.out.bytes(`${jsonLine({ store: path, sessions: heads })}\n`);
  else if (heads.length === 0) sayNone(context, path, wanted !== undefined || options.plan !== undefined);
  else print(context, heads);
  return EXIT.completed;
}

function statuses(given: string[] | undefined): ReadonlySet<string> | undefined {
  const names = given?.flatMap((text) => text.split(',')).map((name) => name.trim()).filter((name) => name !== '');
  if (names === undefined) return undefined;
  const known = [...SESSION_STATUSES, 'interrupted'];
  for (const name of names) if (!known.includes(name)) throw new UsageError('bad_option', `--status knows ${known.join(', ')}; found "${name}"`);
  return new Set(names);
}

// Whether a session is interrupted is no stored fact, so all open ones are looked at for it.
async function findHeads(store: Store, wanted: ReadonlySet<string> | undefined, plan: string | undefined, limit: number, now: number): Promise<SessionHead[]> {
  const looking = wanted?.has('interrupted') === true;
  const status = wanted === undefined ? undefined : SESSION_STATUSES.filter((one) => wanted.has(one) || (looking && OPEN.includes(one)));
  const filter: SessionFilter = { limit: looking ? 100_000 : limit, ...(status === undefined ? {} : { status }), ...(plan === undefined ? {} : { plan_name: plan }) };
  const heads = (await store.listSessions(filter)).map((summary) => headOf(summary, now));
  return heads.filter((head) => wanted === undefined || wanted.has(head.status) || wanted.has(shownStatus(head))).slice(0, limit);
}

function sayNone(context: CliContext, path: string, filtered: boolean): void {
  context.err.line(`no ${filtered ? 'such ' : ''}session in ${path}${existsSync(path) ? '' : ' (there is no store)'}`);
  const above = storePlace(context).by === 'default' && !existsSync(path) ? storesAbove(context.cwd)[0] : undefined;
  if (above !== undefined) context.err.line(`  a folder above has a store: plan list --store ${shellWord(dirname(above))}`);
}

function print({ out }: CliContext, heads: readonly SessionHead[]): void {
  const paint = createPaint(out.colour);
  const rows = heads.map((head) => [head.session_id, shownStatus(head), oneLine(head.plan_name, 40), dateTime(head.created_at), head.ended_at === undefined ? '-' : formatDuration(head.ended_at - head.created_at)]);
  const lines = tableLines(['SESSION', 'STATUS', 'PLAN', 'STARTED', 'TOOK'], rows, (text, row, column) => {
    if (row < 0) return paint.dim(text);
    return column === 1 ? paint.status(shownStatus(heads[row] as SessionHead), text) : text;
  });
  for (const line of lines) out.line(line);
}
