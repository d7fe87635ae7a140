// The report as Markdown.
import { markdown, number } from './text.mjs';

export function markdownPage(report, sections) {
  const { repo, weeks } = report;
  const lines = [`# ${markdown(repo.name)}`, '', subtitle(repo), ''];
  for (const note of sections.notes) lines.push(`> ${note}`, '');
  lines.push(...rows(sections.cards.map(([name]) => name), [sections.cards.map(([, value]) => value)]), '');
  lines.push('## Commits by week', '');
  if (weeks.weeks.length === 0) lines.push('None.', '');
  else {
    const most = weeks.weeks.reduce((high, week) => Math.max(high, week.commits), 0);
    const shown = weeks.weeks.slice(-52);
    if (shown.length < weeks.weeks.length) lines.push(`The last ${shown.length} of ${number(weeks.weeks.length)} weeks with commits.`, '');
    lines.push(...rows(['Week', 'Monday', 'Commits', ''], shown.map((w) => [w.week, w.monday, number(w.commits), '█'.repeat(Math.max(1, Math.round((w.commits / most) * 30)))])), '');
  }
  for (const table of sections.tables) {
    lines.push(`## ${markdown(table.title)}`, '');
    if (table.rows.length === 0) lines.push('None.', '');
    else lines.push(...rows(table.head, table.rows.map(([first, ...rest]) => [markdown(first), ...rest])), '');
    if (table.more > 0) lines.push(`And ${number(table.more)} more.`, '');
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function subtitle(repo) {
  if (repo.head === '') return `\`${repo.path.replaceAll('`', "'")}\`, no commit yet.`;
  return `Commit \`${repo.head.slice(0, 12)}\`${repo.branch === '' ? '' : ` of ${markdown(repo.branch)}`}, ${repo.committed_at}.`;
}

function rows(head, body) {
  return [`| ${head.join(' | ')} |`, `|${head.map((_, i) => (i === 0 ? ' --- |' : ' ---: |')).join('')}`, ...body.map((cells) => `| ${cells.join(' | ')} |`)];
}
