import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shellWord, storePlace, storesAbove } from '../../src/cli/store-path.js';
import { tempDir } from '../support/sessions.js';

describe('the place of the store', () => {
  test('is .plan/plan.db in the current folder by default', () => {
    expect(storePlace({ store: undefined, env: {}, cwd: '/x' })).toEqual({ path: '/x/.plan/plan.db', by: 'default' });
  });

  test('PLAN_HOME moves it, --store wins', () => {
    expect(storePlace({ store: undefined, env: { PLAN_HOME: '/h' }, cwd: '/x' }).path).toBe('/h/plan.db');
    expect(storePlace({ store: 'y', env: { PLAN_HOME: '/h' }, cwd: '/x' })).toEqual({ path: '/x/y/plan.db', by: '--store' });
    expect(storePlace({ store: undefined, env: { PLAN_HOME: '' }, cwd: '/x' }).by).toBe('default');
  });

  test('a path is what is there; what is not there is a file when it looks like one', () => {
    const dir = tempDir();
    mkdirSync(join(dir, 'folder.db'));
    writeFileSync(join(dir, 'file'), '');
    const at = (store: string) => storePlace({ store, env: {}, cwd: dir }).path;
    expect(at('folder.db')).toBe(join(dir, 'folder.db', 'plan.db'));
    expect(at('file')).toBe(join(dir, 'file'));
    expect(at('new.db')).toBe(join(dir, 'new.db'));
    expect(at('new')).toBe(join(dir, 'new', 'plan.db'));
  });

  test('no path, and memory, are refused', () => {
    for (const store of ['', ':memory:']) expect(() => storePlace({ store, env: {}, cwd: '/x' })).toThrow('--store expects');
  });

  test('stores of the folders above are found, nearest first', () => {
    const dir = tempDir();
    for (const folder of ['.plan', 'a/.plan', 'a/b/c']) mkdirSync(join(dir, folder), { recursive: true });
    for (const file of ['.plan/plan.db', 'a/.plan/plan.db']) writeFileSync(join(dir, file), '');
    expect(storesAbove(join(dir, 'a/b/c')).slice(0, 2)).toEqual([join(dir, 'a/.plan/plan.db'), join(dir, '.plan/plan.db')]);
  });

  test('a word to type is quoted where a shell would change it', () => {
    expect(shellWord('/a/b-c.db')).toBe('/a/b-c.db');
    expect(shellWord("it's here")).toBe("'it'\\''s here'");
  });
});
