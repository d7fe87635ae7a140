// Commits by author, as .mailmap names them.
import { gitFields } from './git.mjs';
import { ranked, step } from './step.mjs';
import { plural } from './text.mjs';

await step(async ({ repo, head, top }) => {
  const byAuthor = new Map();
  let commits = 0;
  if (head !== '') {
    for await (const name of gitFields(repo, ['log', '-z', '--no-patch', '--encoding=UTF-8', '--format=%aN', head])) {
      byAuthor.set(name, (byAuthor.get(name) ?? 0) + 1);
      commits += 1;
    }
  }
  return { commits, count: byAuthor.size, authors: ranked(byAuthor).slice(0, top).map(([name, n]) => ({ name, commits: n })) };
}, ({ commits, count }) => `${plural(commits, 'commit')} by ${plural(count, 'author')}`);
