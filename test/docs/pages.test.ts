// The pages of docs/ against the code: what is exported, passed and limited is what they say.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { VALUE_LIMIT } from '../../src/actions/outputs.js';
import { BASE_VARIABLES } from '../../src/process/base-environment.js';
import { LOG_KEEP } from '../../src/process/log-writer.js';
import { STORE_FAULTS } from '../../src/core/error.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('docs/library.md names everything that the package exports', () => {
  const source = read('src/index.ts').replace(/\/\/.*$/gm, '');
  const names = [...source.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) => list.split(',').map((name) => name.replace(/\btype\b/, '').trim()).filter((name) => name !== ''));
  expect(names.length).toBeGreaterThan(40);
  const page = read('docs/library.md');
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(page))).toEqual([]);
  expect(STORE_FAULTS.filter((fault) => !page.includes(`\`${fault}\``))).toEqual([]);
});

test('docs/plan-language.md lists the base environment and the limits', () => {
  const page = read('docs/plan-language.md');
  const base = /The base: ([^.]*)\./.exec(page)?.[1] ?? '';
  expect([...base.matchAll(/`([A-Z]+)`/g)].map(([, name]) => name)).toEqual([...BASE_VARIABLES]);
  expect([VALUE_LIMIT, LOG_KEEP]).toEqual([16 * 1024 * 1024, 16 * 1024 * 1024]);
  expect(page).toContain('16 MiB each');
});

test('links between pages lead somewhere', () => {
  for (const page of ['cli', 'exit-codes', 'failure-matrix', 'install', 'library', 'plan-language', 'states']) {
    for (const [, target = ''] of read(`docs/${page}.md`).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (!/^https?:/.test(target)) expect(() => read(`docs/${target}`), `${page}.md -> ${target}`).not.toThrow();
    }
  }
});
