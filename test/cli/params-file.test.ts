import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readParamsFile } from '../../src/cli/params-file.js';
import { tempDir } from '../support/sessions.js';

async function read(text: string, params: Parameters<typeof readParamsFile>[1] = {}): Promise<unknown> {
  const path = join(tempDir(), 'params.yaml');
  writeFileSync(path, text);
  return { ...(await readParamsFile(path, params)) };
}

describe('a params file', () => {
  test('is YAML or JSON, with every type', async () => {
    expect(await read('a: 1\nb: [x, {y: true}]\nc: null\n')).toEqual({ a: 1, b: ['x', { y: true }], c: null });
    expect(await read('{"a": "x"}')).toEqual({ a: 'x' });
    expect(await read('')).toEqual({});
  });

  test('keeps the spelling of what the plan declares as text', async () => {
    const params = { version: { type: 'string' }, count: { type: 'integer' }, flag: { type: 'string' } } as const;
    expect(await read('version: 3.10\ncount: 10\nflag: true\n', params)).toEqual({ version: '3.10', count: 10, flag: 'true' });
  });

  test('says where it is wrong', async () => {
    await expect(read('a: [1')).rejects.toThrow(/params\.yaml:\d+:\d+: not YAML or JSON/);
    await expect(read('- a')).rejects.toThrow('expected a mapping');
    await expect(read('a: 1\na: 2')).rejects.toThrow('not YAML or JSON');
    await expect(readParamsFile('/nowhere/p.yaml', {})).rejects.toThrow('there is no file /nowhere/p.yaml');
  });

  test('a file of aliases that grows without end is refused', async () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]', ...[...'bcdefgh'].map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[i]}`).join(',')}]`)].join('\n');
    await expect(read(bomb)).rejects.toThrow('--params-file');
  });
});
