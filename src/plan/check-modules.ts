// `call` names a function of a module: the file must be there, and name what it exports. It is not loaded: checking a
// plan runs nothing of it.
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { hintFor, quote } from '../core/suggest.js';
import type { PlanContext } from './plan-context.js';

const LARGEST_MODULE = 2 * 1024 * 1024;

/** Undefined: no such file. `text` is undefined when it is too large to look into. */
type Module = { text: string | undefined } | undefined;

export async function checkModules(context: PlanContext): Promise<void> {
  const known = new Map<string, Promise<Module>>();
  for (const draft of context.drafts.values()) {
    const name = draft.authored.call?.function;
    if (name === undefined || !name.startsWith('.')) continue;
    const [path = '', exported = 'default'] = name.split('#');
    const file = resolve(context.surroundings.base_dir, path);
    const reading = known.get(file) ?? readModule(file);
    known.set(file, reading);
    const module = await reading;
    const place = [...draft.path, 'call', 'function'];
    if (module === undefined) context.fault(place, 'value', 'module_not_found', `there is no module ${file}`, 'the path is relative to the folder of the plan file');
    else if (module.text !== undefined && !mayExport(module.text, exported)) {
      context.fault(place, 'value', 'export_not_found', `the module ${file} exports no ${exported === 'default' ? 'default' : `function ${quote(exported)}`}`, exportHint(module.text, path, exported));
    }
  }
}

async function readModule(path: string): Promise<Module> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return undefined;
    return { text: found.size > LARGEST_MODULE ? undefined : await readFile(path, 'utf8') };
  } catch {
    return undefined;
  }
}

// Without running a module, only this is certain: a name that stands nowhere in its text is not exported, unless it
// passes on what another one exports (`export *`, `require`).
function mayExport(text: string, name: string): boolean {
  if (/\bexport\s*\*(?!\s*as\b)|\brequire\s*\(|\\u/.test(text)) return true;
  if (name === 'default' && /\bexports\b/.test(text)) return true;
  return new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`).test(text);
}

function exportHint(text: string, path: string, name: string): string {
  const functions = [...text.matchAll(/\bexport\s+(?:async\s+)?(?:function\s*\*?|const|let|var|class)\s*([A-Za-z_$][\w$]*)/g)].map(([, found]) => found as string);
  if (functions.length === 0) return 'export a function of that name';
  return name === 'default' ? `write ${path}#${functions[0] as string}` : hintFor(name, functions, `it exports ${functions.slice(0, 8).join(', ')}`);
}
