// Churn: lines added and deleted by file, over the last CHURN_COMMITS commits. A renamed file counts under its new
// name from then on. Merges count nothing of their own; binary files have no lines.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gitFields, gitText } from './git.mjs';
import { step } from './step.mjs';
import { number, plural } from './text.mjs';

const { CHURN_COMMITS: limit = '20000' } = process.env;

await step(async ({ repo, head, top }) => {
  const totals = { commits: 0, added: 0, deleted: 0 };
  const byFile = new Map();
  if (head !== '') {
    const boundary = await boundaryOf(repo);
    const log = ['log', '-z', '--numstat', '-M', '--diff-merges=off', '--no-ext-diff', '--no-textconv', '--ignore-submodules=none', `--max-count=${limit}`, '--format=%H', head];
    let counted = false;
    let renamed; // a rename comes as three fields: the numbers, the old name, the new name
    for await (const field of gitFields(repo, log)) {
      if (renamed !== undefined) {
        if (renamed.old === undefined) renamed.old = field;
        else {
          add(field, renamed);
          renamed = undefined;
        }
        continue;
      }
      const numbers = /^\n?(\d+|-)\t(\d+|-)\t/.exec(field);
      if (numbers === null) {
        // The oldest commits of a shallow clone seem to add everything; what they really changed is not known.
        counted = !boundary.has(field);
        if (counted) totals.commits += 1;
        continue;
      }
      const change = { added: Number(numbers[1]) || 0, deleted: Number(numbers[2]) || 0, counted, old: undefined };
      const path = field.slice(numbers[0].length);
      if (path === '') renamed = change;
      else add(path, change);
    }
  }
  const files = [...byFile.values()].sort((a, b) => b.added + b.deleted - a.added - a.deleted || (a.path < b.path ? -1 : 1));
  return { ...totals, limit: Number(limit), files: files.slice(0, top) };

  function add(path, change) {
    if (!change.counted) return;
    totals.added += change.added;
    totals.deleted += change.deleted;
    const file = byFile.get(path) ?? { path, commits: 0, added: 0, deleted: 0 };
    file.commits += 1;
    file.added += change.added;
    file.deleted += change.deleted;
    byFile.set(path, file);
  }
}, ({ commits, added, deleted }) => `${plural(added, 'line')} added and ${number(deleted)} deleted by ${plural(commits, 'commit')}`);

// The commits where a shallow clone was cut; none in a whole repository.
async function boundaryOf(repo) {
  const file = resolve(repo, await gitText(repo, ['rev-parse', '--git-path', 'shallow']));
  return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
}
