// The report as one HTML file: no script, nothing from outside, light and dark.
import { bar, weekChart } from './chart.mjs';
import { html, number } from './text.mjs';

const STYLE = `
:root { color-scheme: light dark; --ink: #1d2330; --soft: #5d6675; --line: #e3e6eb; --paper: #fff; --back: #f5f6f8; --bar: #3167d8; --track: #eef0f4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #2b323e; --paper: #171b22; --back: #0f1217; --bar: #6a9bff; --track: #232a35; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 40px 20px 64px; background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1040px; margin: 0 auto; }
h1 { margin: 0; font-size: 30px; letter-spacing: -.02em; overflow-wrap: anywhere; }
h2 { margin: 0 0 14px; font-size: 17px; }
.sub { margin: 4px 0 24px; color: var(--soft); }
code { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.note { margin: 0 0 12px; padding: 10px 14px; border-left: 3px solid var(--bar); background: var(--paper); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 12px; margin: 0 0 20px; }
.card, section { background: var(--paper); border: 1px solid var(--line); border-radius: 10px; }
.card { padding: 14px 16px; }
.card dt { color: var(--soft); font-size: 13px; }
.card dd { margin: 2px 0 0; font-size: 23px; font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
section { padding: 20px 22px; margin: 0 0 20px; overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th { padding: 0 10px 6px; color: var(--soft); font-weight: 500; font-size: 13px; text-align: right; white-space: nowrap; }
td { padding: 5px 10px; border-top: 1px solid var(--line); text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th:first-child, td:first-child { padding-left: 0; text-align: left; }
td:first-child { width: 55%; white-space: normal; overflow-wrap: anywhere; unicode-bidi: isolate; }
th:last-child, td:last-child { padding-right: 0; }
td.share { width: 22%; min-width: 90px; }
svg { display: block; width: 100%; height: auto; }
svg.inline { height: 8px; border-radius: 3px; }
.bar { fill: var(--bar); }
.track { fill: var(--track); }
.grid { stroke: var(--line); }
.tick { fill: var(--soft); font: 11px system-ui, sans-serif; }
.more { margin: 10px 0 0; color: var(--soft); font-size: 13px; }
.chart svg { min-width: 640px; }
@media (max-width: 640px) { body { padding: 24px 12px; } section { padding: 16px; } .share, th.share { display: none; } }
@media print { body { background: none; padding: 0; } section, .card { break-inside: avoid; } }
`;

export function htmlPage(report, sections) {
  const { repo, weeks } = report;
  const chart = weeks.weeks.length === 0 ? undefined : weekChart(weeks.weeks);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${html(repo.name)}: repository report</title>
<style>${STYLE}</style>
<main>
<h1>${html(repo.name)}</h1>
<p class="sub">${subtitle(repo)}</p>
${sections.notes.map((note) => `<p class="note">${html(note)}</p>\n`).join('')}<dl class="cards">
${sections.cards.map(([name, value]) => `<div class="card"><dt>${html(name)}</dt><dd>${html(value)}</dd></div>`).join('\n')}
</dl>
<section class="chart">
<h2>Commits by week</h2>
${chart === undefined ? '<p>None.</p>' : chart.svg}
${chart !== undefined && chart.hidden > 0 ? more(`${number(chart.hidden)} older weeks are not drawn.`) : ''}</section>
${sections.tables.map(section).join('\n')}
</main>
</html>
`;
}

function subtitle(repo) {
  if (repo.head === '') return `<code>${html(repo.path)}</code>, no commit yet`;
  return `Commit <code>${html(repo.head.slice(0, 12))}</code>${repo.branch === '' ? '' : ` of <code>${html(repo.branch)}</code>`}, ${html(repo.committed_at)}`;
}

function section(table) {
  if (table.rows.length === 0) return `<section>\n<h2>${html(table.title)}</h2>\n<p>None.</p>\n</section>`;
  const most = Math.max(...table.sizes);
  const body = table.rows.map(([first, ...rest], i) => `<tr><td>${html(first)}</td><td class="share">${bar(table.sizes[i], most)}</td>${rest.map((cell) => `<td>${html(cell)}</td>`).join('')}</tr>`);
  const [name, ...others] = table.head;
  return `<section>
<h2>${html(table.title)}</h2>
<table>
<thead><tr><th>${html(name)}</th><th class="share"></th>${others.map((cell) => `<th>${html(cell)}</th>`).join('')}</tr></thead>
<tbody>
${body.join('\n')}
</tbody>
</table>
${table.more > 0 ? more(`And ${number(table.more)} more.`) : ''}</section>`;
}

function more(text) {
  return `<p class="more">${html(text)}</p>\n`;
}
