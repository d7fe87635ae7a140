// The largest committed files, by bytes of their content. Submodules hold no bytes here.
import { gitFields } from './git.mjs';
import { step } from './step.mjs';
import { bytes, plural } from './text.mjs';

await step(async ({ repo, head, top }) => {
  let entries = 0;
  let total = 0;
  const files = [];
  if (head !== '') {
    for await (const entry of gitFields(repo, ['ls-tree', '-r', '-l', '-z', '--full-tree', head])) {
      entries += 1;
      const tab = entry.indexOf('\t');
      const size = entry.slice(0, tab).split(/ +/)[3];
      if (size === '-') continue;
      total += Number(size);
      files.push({ path: entry.slice(tab + 1), bytes: Number(size) });
    }
  }
  files.sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1));
  return { entries, bytes: total, files: files.slice(0, top) };
}, ({ entries, bytes: size }) => `${bytes(size)} in ${plural(entries, 'file')}`);
