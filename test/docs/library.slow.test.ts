// docs/library.md: its example runs as printed.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PlanFolder } from '../support/plan-command.js';

test('the example of docs/library.md prints what the page says, and nothing twice at its second start', async () => {
  const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8');
  const [, program = '', printed = ''] = /```js\n([^]*?)```\n\nIt prints:\n\n```\n([^]*?)```/.exec(page) ?? [];
  const folder = new PlanFolder();
  const first = await folder.node(program);
  expect([first.stderr, first.stdout, first.code]).toEqual(['', printed, 0]);
  const second = await folder.node(program);
  expect([second.stderr, second.stdout]).toEqual(['', 'completed {"rows":3}\n']);
});
