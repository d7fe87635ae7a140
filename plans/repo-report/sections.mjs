// What the report says, without a format: numbers at the top, notes, and tables. Both formats are made of this.
import { bytes, number, plural, share } from './text.mjs';

export function sectionsOf({ repo, authors, weeks, languages, largest, churn, todos }) {
  const cards = [
    ['Commits', number(repo.commits)],
    ['Authors', number(authors.count)],
    ['Files', number(largest.entries)],
    ['Lines of text', number(languages.lines)],
    ['Size', bytes(largest.bytes)],
    ['TODO marks', number(todos.total)],
  ];
  const notes = [];
  if (repo.head === '') notes.push('The repository has no commit yet, so there is nothing to count.');
  if (repo.shallow) notes.push('This is a shallow clone: only the commits that it holds are counted, and what the oldest of them changed is not known.');
  if (languages.submodules > 0) notes.push(`${plural(languages.submodules, 'submodule')} counted as files, but not looked into.`);
  if (weeks.undated > 0) notes.push(`${plural(weeks.undated, 'commit')} with an impossible date left out of the weeks.`);
  if (repo.commits > churn.limit) notes.push(`Churn covers the last ${number(churn.limit)} commits.`);

  const tables = [
    table('Commits by author', authors.count, ['Author', 'Commits', 'Share'], authors.authors.map((a) => [a.name, number(a.commits), share(a.commits, authors.commits)]), authors.authors.map((a) => a.commits)),
    table('Lines by language', languages.languages.length, ['Language', 'Lines', 'Files', 'Share'], languages.languages.map((l) => [l.language, number(l.lines), number(l.files), share(l.lines, languages.lines)]), languages.languages.map((l) => l.lines)),
    table('Largest files', largest.entries, ['File', 'Size'], largest.files.map((f) => [f.path, bytes(f.bytes)]), largest.files.map((f) => f.bytes)),
    table('Churn', undefined, ['File', 'Added', 'Deleted', 'Commits'], churn.files.map((f) => [f.path, `+${number(f.added)}`, `−${number(f.deleted)}`, number(f.commits)]), churn.files.map((f) => f.added + f.deleted)),
    table(`Marks (${todos.marks.map(({ mark, count }) => `${mark} ${number(count)}`).join(', ')})`, undefined, ['File', 'Marks'], todos.files.map((f) => [f.path, number(f.count)]), todos.files.map((f) => f.count)),
  ];
  return { cards, notes, tables };
}

// `sizes` are the numbers behind the rows, for bars.
function table(title, total, head, rows, sizes) {
  return { title, head, rows, sizes, more: total === undefined ? 0 : Math.max(0, total - rows.length) };
}
