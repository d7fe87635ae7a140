// Joins what the steps counted into report.md and report.html. The same numbers give the same bytes: no clock is read.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join as joinPath, resolve } from 'node:path';
import { htmlPage } from './html-page.mjs';
import { markdownPage } from './markdown-page.mjs';
import { sectionsOf } from './sections.mjs';

/**
 * For the step kind `call`.
 * @param {{ out: string; called_from: string; repo: object; authors: object; weeks: object; languages: object; largest: object; churn: object; todos: object }} args
 * @returns {{ markdown: string; html: string }} the absolute paths of the two files
 */
export function join({ out, called_from: calledFrom, ...report }, { log, session_id: session }) {
  const folder = resolve(calledFrom, out === '' ? joinPath('reports', report.repo.name) : out);
  mkdirSync(folder, { recursive: true });
  // The default folder may lie in somebody's repository: this keeps it out of `git status`.
  if (out === '') writeFileSync(joinPath(folder, '.gitignore'), '*\n');
  const sections = sectionsOf(report);
  const files = { markdown: joinPath(folder, 'report.md'), html: joinPath(folder, 'report.html') };
  writeWhole(files.markdown, markdownPage(report, sections), session);
  writeWhole(files.html, htmlPage(report, sections), session);
  log(`wrote ${files.markdown}`);
  log(`wrote ${files.html}`);
  return files;
}

// A reader, or a crash, finds the old file or the new one, never a part. A resume writes over the part that a crash left.
function writeWhole(path, text, session) {
  const part = `${path}.${session}.part`;
  writeFileSync(part, text);
  renameSync(part, path);
}
