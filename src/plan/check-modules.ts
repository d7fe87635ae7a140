// `call` names a function of a module: the file must be there. It is not loaded: checking a plan runs nothing of it.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PlanContext } from './plan-context.js';

export async function checkModules(context: PlanContext): Promise<void> {
  const known = new Map<string, boolean>();
  for (const draft of context.drafts.values()) {
    const name = draft.authored.call?.function;
    if (name === undefined || !name.startsWith('.')) continue;
    const file = resolve(context.baseDir, name.split('#')[0] as string);
    const found = known.get(file) ?? (await isFile(file));
    known.set(file, found);
    if (!found) context.fault([...draft.path, 'call', 'function'], 'value', 'module_not_found', `there is no module ${file}`, 'the path is relative to the folder of the plan file');
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
