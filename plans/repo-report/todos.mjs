// Marks such as TODO in the committed text files, as whole words in capitals.
import { gitFields } from './git.mjs';
import { ranked, step } from './step.mjs';
import { plural } from './text.mjs';

const { MARKS = 'TODO|FIXME|XXX|HACK' } = process.env;

await step(async ({ repo, head, top }) => {
  const byMark = new Map(MARKS.split('|').map((mark) => [mark, 0]));
  const byFile = new Map();
  let total = 0;
  if (head !== '') {
    const grep = ['grep', '-I', '-o', '-w', '-z', '-E', '--no-line-number', '--no-column', '--no-color', '--no-textconv', '--no-recurse-submodules', '-e', `(${MARKS})`, head];
    let path;
    for await (const field of gitFields(repo, grep, { ends: '\0\n', allow: [1] })) {
      if (path === undefined) path = field.slice(head.length + 1);
      else {
        byMark.set(field, (byMark.get(field) ?? 0) + 1);
        byFile.set(path, (byFile.get(path) ?? 0) + 1);
        total += 1;
        path = undefined;
      }
    }
  }
  return {
    total,
    marks: [...byMark].map(([mark, count]) => ({ mark, count })),
    files: ranked(byFile).slice(0, top).map(([file, count]) => ({ path: file, count })),
  };
}, ({ total, marks }) => `${plural(total, 'mark')}: ${marks.map(({ mark, count }) => `${count} ${mark}`).join(', ')}`);
