// A session runs the plan that it was started with. Who edited the file since then should know.
import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { StoredSession } from '../store/store.js';
import type { CliContext } from './cli-context.js';
import { oneLine } from './safe-text.js';
import { shellWord } from './store-path.js';

/** Says so on stderr, in one line, when the file of a session's plan now holds another plan. Never fails. */
export async function tellChangedPlan(context: CliContext, { start, plan_source: pinned }: StoredSession): Promise<void> {
  const file = await planFile(context.cwd, start);
  const text = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  if (file === undefined || text === undefined || text.replace(/^\uFEFF/, '') === pinned) return;
  const { loadPlan } = await import('../plan/load.js');
  const loaded = await loadPlan(file);
  if (loaded.ok && loaded.plan.plan_hash === start.plan_hash) return; // other words, the same plan
  context.err.line(
    `note: ${oneLine(start.plan_file, 200)} was changed after session ${start.session_id} was started, and the change is not used: the session goes on with the plan that it was started with; for the changed one: plan run ${shellWord(start.plan_file)}`,
  );
}

// The path was given relative to a folder that is not known any more; the folder of the plan is.
async function planFile(cwd: string, start: StoredSession['start']): Promise<string | undefined> {
  for (const path of [join(start.base_dir, basename(start.plan_file)), resolve(cwd, start.plan_file)]) {
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined && dirname(real) === start.base_dir) return real;
  }
  return undefined;
}
