// The import table of ARCHITECTURE.md, held by a test.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');

/** Which folders a folder may import from, beside itself. `store/sqlite` is a folder of its own. */
const MAY_IMPORT: { [folder: string]: string[] } = {
  core: [],
  expression: ['core'],
  graph: ['core'],
  plan: ['core', 'expression', 'graph'],
  process: ['core'],
  actions: ['core', 'plan', 'process'],
  store: ['core'],
  'store/sqlite': ['core', 'store'],
  executor: ['core', 'plan', 'expression', 'graph', 'process', 'actions', 'store'],
  cli: ['core', 'plan', 'expression', 'graph', 'process', 'actions', 'store', 'store/sqlite', 'executor', 'index.ts'],
};

/** The one file of a library folder that is a program: it runs in a process of its own. */
const OWN_PROCESS = 'actions/module-host.js';

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.[jt]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

function folderOf(file: string): string {
  const folder = dirname(relative(SRC, file));
  if (folder === '.') return relative(SRC, file);
  return folder.startsWith('store/sqlite') ? 'store/sqlite' : (folder.split('/')[0] as string);
}

/** Folders that a file imports from, types included. */
function imports(file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\s[^;]*?from\s+'(\.[^']+)'/gms);
  return [...found].map((match) => folderOf(resolve(dirname(file), match[1] as string)));
}

describe('the architecture', () => {
  test('imports go one way', () => {
    const wrong: string[] = [];
    for (const file of sources(SRC)) {
      const from = folderOf(file);
      if (from.endsWith('.ts')) continue; // entry points of the package
      for (const to of imports(file)) {
        if (to !== from && !MAY_IMPORT[from]?.includes(to)) wrong.push(`${relative(SRC, file)} imports ${to}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('no file of src is longer than 300 lines, and no folder is a drawer', () => {
    const long = sources(SRC).filter((file) => readFileSync(file, 'utf8').split('\n').length > 301);
    expect(long.map((file) => relative(SRC, file))).toEqual([]);
    const drawers = sources(SRC).filter((file) => /(?:^|\/)(?:utils?|helpers?|common|types|lib|misc)(?:\/|\.ts$)/.test(relative(SRC, file)));
    expect(drawers.map((file) => relative(SRC, file))).toEqual([]);
  });

  test('nothing but the command line writes to the console or ends the process', () => {
    const wrong = sources(SRC).filter(
      (file) => folderOf(file) !== 'cli' && relative(SRC, file) !== OWN_PROCESS && /console\.|process\.(?:exit\b(?!,)|exitCode|chdir|on|once)\b/.test(readFileSync(file, 'utf8')),
    );
    expect(wrong.map((file) => relative(SRC, file))).toEqual([]);
  });
});
