// Sessions in a test: a plan from text, a store of its own, functions that count what they really do.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { LoadedPlan, PlanExecutorOptions, PlanFunction, Store } from '../../src/index.js';
import { loadPlan, PlanExecutor } from '../../src/index.js';
import { openSqliteStore } from '../../src/store/sqlite/index.js';

const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A folder that is gone after the test. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'planwright-'));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export async function memoryStore(): Promise<Store> {
  const store = await openSqliteStore({ path: ':memory:' });
  cleanups.push(() => store.close());
  return store;
}

export async function fileStore(dir = tempDir()): Promise<Store> {
  const store = await openSqliteStore({ path: join(dir, '.plan', 'plan.db') });
  cleanups.push(() => store.close());
  return store;
}

/** Loads a plan that must be valid; the head (`plan: 1`, `name`) is added when missing. */
export async function loaded(body: string, baseDir?: string): Promise<LoadedPlan> {
  const source = body.includes('plan: 1') ? body : `plan: 1\nname: test\n${body}`;
  const result = await loadPlan({ source, file: 'test.yaml', ...(baseDir === undefined ? {} : { base_dir: baseDir }) });
  if (!result.ok) throw new Error(result.problems.map((p) => `${p.line}:${p.column} ${p.code}: ${p.message}`).join('\n'));
  return result;
}

/** Functions for `call` that record every call of theirs: `calls` is the ground truth of what ran. */
export function recorder(functions: { [name: string]: PlanFunction } = {}) {
  const calls: string[] = [];
  const wrapped: { [name: string]: PlanFunction } = {
    mark: () => ({}),
    ...functions,
  };
  const counted = Object.fromEntries(
    Object.entries(wrapped).map(([name, fn]): [string, PlanFunction] => [
      name,
      (args, context) => {
        calls.push(context.step_id);
        return fn(args, context);
      },
    ]),
  );
  return { calls, functions: counted, count: (id: string) => calls.filter((call) => call === id).length };
}

export function executor(options: PlanExecutorOptions): PlanExecutor {
  return new PlanExecutor({ random: () => 0.5, ...options });
}

/** Event types of a session, those of steps with the step's id: `step_started a`. */
export async function eventNames(store: Store, sessionId: string): Promise<string[]> {
  const events = await store.readEvents(sessionId, { limit: 100_000 });
  return events.map((event) => (event.step_id === undefined ? event.type : `${event.type} ${event.step_id}`));
}
