import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { git, makeRepository, type Commit } from './git-fixture.js';
import { killAndResume } from './kill-and-resume.js';
import { PlanRig, ROOT } from './plan-rig.js';

const PLAN = join(ROOT, 'plans', 'repo-report.yaml');
const WEEK = 7 * 86_400;
const MONDAY = Date.UTC(2025, 11, 29) / 1000; // of ISO week 2026-W01, which begins in 2025

const lines = (n: number, text = 'line') => Array.from({ length: n }, (_, i) => `${text} ${i}\n`).join('');
const COMMITS: Commit[] = [
  { author: 'Ada | `x` (', at: MONDAY, files: { 'src/a.ts': lines(5), 'a b.py': `${lines(3)}no line end`, 'new\nline.js': '// TODO one FIXME two\n// TODOS is no mark\n' } },
  { author: '李雷', at: MONDAY + 7 * 86_400 - 1, files: { 'ünï.md': '# TODO\n', 'bin.dat': Buffer.from([1, 0, 2, 10, 10]), 'empty.ts': '', '<img src=x onerror=alert(1)>.html': '<p>\n' } },
  { author: '李雷', at: MONDAY + 1 * WEEK, files: { 'src/a.ts': lines(5) + lines(2, 'more') }, links: { 'link.ts': 'src/a.ts' } },
  { author: 'Ada | `x` (', at: MONDAY + 3 * WEEK, rename: ['src/a.ts', 'src/b & c.ts'], submodules: { vendor: 'a'.repeat(40) } },
  { author: 'Grace', at: MONDAY + 3 * WEEK, files: { Makefile: 'all:\n' }, parents: [3] },
  { author: 'Grace', at: MONDAY + 4 * WEEK, parents: [4, 5], files: { Makefile: 'all:\n' } },
];

const rig = new PlanRig();
const repo = join(rig.dir, 'the repo');
beforeAll(() => {
  makeRepository(repo, COMMITS);
  git(repo, ['checkout', '-q', '-f', 'main']);
});
afterAll(() => rig.remove());

/** Rows of a table of the Markdown report, without head and line. */
function rows(report: string, title: string): string[][] {
  const section = report.split(/^## /m).find((part) => part.startsWith(title));
  if (section === undefined) throw new Error(`no section ${title} in\n${report}`);
  return section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.slice(2, -2).split(' | '));
}

async function report(args: string[], session: string, cwd = rig.dir) {
  const ended = await rig.plan(['run', PLAN, ...args, '--session', session], { cwd });
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  const { outputs } = await rig.show(session);
  const { html, markdown, ...numbers } = outputs as { html: string; markdown: string; [name: string]: unknown };
  return { html: readFileSync(html, 'utf8'), markdown: readFileSync(markdown, 'utf8'), htmlPath: html, numbers };
}

describe('the report of a repository', () => {
  test('has the numbers that git and the files themselves give', async () => {
    const before = git(repo, ['status', '--porcelain', '--ignored']);
    const { markdown, html, numbers } = await report(['--param', `path=${repo}`, '--param', `out=${rig.out}`], 'numbers');

    // Independent: authors and churn by other commands of git, weeks by git's own calendar, lines by reading the files.
    const authors = git(repo, ['shortlog', '-sn', 'HEAD']).split('\n').map((line) => line.trim().split('\t').reverse());
    expect(rows(markdown, 'Commits by author').map(([name, n]) => [unescaped(name), n])).toEqual(authors);
    const byWeek = new Map<string, number>();
    for (const week of git(repo, ['log', '--date=format-local:%G-W%V', '--format=%ad']).split('\n')) byWeek.set(week, (byWeek.get(week) ?? 0) + 1);
    expect(rows(markdown, 'Commits by week').map(([week, , n]) => [week, Number(n)])).toEqual([...byWeek].sort());
    expect([...byWeek.keys()].sort()[0]).toBe('2026-W01');

    const files = git(repo, ['ls-files', '-z']).split('\0').filter((path) => path !== '');
    const regular = files.filter((path) => lstatSync(join(repo, path)).isFile());
    const content = (path: string) => readFileSync(join(repo, path));
    const linesOf = (path: string) => (content(path).includes(0) || content(path).length === 0 ? 0 : content(path).toString().replace(/\n$/, '').split('\n').length);
    const total = regular.reduce((sum, path) => sum + linesOf(path), 0);
    expect(numbers).toMatchObject({ commit: git(repo, ['rev-parse', 'HEAD']), commits: COMMITS.length, authors: 3, files: files.length, lines: total });
    expect(rows(markdown, 'Lines by language').map(([language, n, count]) => [language, Number(n), Number(count)])).toEqual([
      ['TypeScript', linesOf('src/b & c.ts'), 1],
      ['Python', linesOf('a b.py'), 1],
      ['JavaScript', linesOf('new\nline.js'), 1],
      ['HTML', 1, 1],
      ['Makefile', 1, 1],
      ['Markdown', 1, 1],
    ]);
    const sizes = files.filter((path) => path !== 'vendor').map((path) => (path === 'link.ts' ? 'src/a.ts'.length : lstatSync(join(repo, path)).size));
    expect(rows(markdown, 'Largest files').map(([, size]) => size)).toEqual(sizes.sort((a, b) => b - a).map((size) => `${size} B`));

    const text = regular.map((path) => content(path).toString()).join('\n');
    expect(numbers['todos']).toBe(text.match(/\b(TODO|FIXME|XXX|HACK)\b/g)?.length);
    const added = git(repo, ['log', '-M', '--numstat', '--format=']).split('\n').reduce((sum, line) => sum + (Number(line.split('\t')[0]) || 0), 0);
    expect(rows(markdown, 'Churn').reduce((sum, [, plus]) => sum + Number(plus), 0)).toBe(added);
    expect(rows(markdown, 'Churn').map(([path, , , commits]) => [unescaped(path), commits])).toContainEqual(['src/b & c.ts', '1']);

    // Names are data, and the page needs nothing from outside.
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;.html');
    expect(html).not.toMatch(/<img|<script|<link|(src|href)\s*=\s*["']|url\(|@import/);
    expect(markdown).not.toMatch(/<img/);
    expect(html).toContain('new\\nline.js');
    expect(html.match(/<rect class="bar"[^>]*><title>/g)).toHaveLength(byWeek.size);
    expect(git(repo, ['status', '--porcelain', '--ignored'])).toBe(before);
  });

  test('is killed at any point and resumed to the same bytes, though commits arrive meanwhile', async () => {
    const moving = join(rig.dir, 'moving');
    git(rig.dir, ['clone', '-q', repo, moving]);
    const head = git(moving, ['rev-parse', 'HEAD']);
    await killAndResume(
      rig,
      {
        args: [PLAN, '--param', `path=${moving}`, '--param', `out=${rig.out}`],
        result: () => Object.fromEntries(readdirSync(rig.out).sort().map((name) => [name, readFileSync(join(rig.out, name), 'utf8')])),
        effects: () => rig.begun(),
        // The first step pins the commit: what comes after it is not in the report.
        betweenKillAndResume: (completed) =>
          completed.includes('repo') && git(moving, ['-c', 'user.name=Late', '-c', 'user.email=late@example.org', 'commit', '-q', '--allow-empty', '-m', 'late']),
        afterRound: () => git(moving, ['update-ref', 'HEAD', head]),
      },
      3,
    );
  });

  test('of a repository without commits, a bare one and a shallow one', async () => {
    const empty = join(rig.dir, 'empty');
    makeRepository(empty, []);
    expect((await report(['--param', `path=${empty}`, '--param', `out=${rig.out}`], 'empty')).numbers).toEqual({ commit: '', commits: 0, authors: 0, files: 0, lines: 0, todos: 0 });

    git(rig.dir, ['clone', '-q', '--bare', repo, 'bare.git']);
    git(rig.dir, ['clone', '-q', '--depth', '2', `file://${repo}`, 'shallow']);
    const bare = await report(['--param', 'path=bare.git', '--param', `out=${rig.out}`], 'bare');
    expect(bare.numbers).toMatchObject({ commits: COMMITS.length, files: 10 });
    expect(bare.markdown).toMatch(/^# bare\n/);

    const shallow = await report(['--param', 'path=shallow', '--param', `out=${rig.out}`], 'shallow');
    expect(shallow.numbers).toMatchObject({ commits: Number(git(join(rig.dir, 'shallow'), ['rev-list', '--count', 'HEAD'])), files: 10 });
    expect(shallow.markdown).toContain('> This is a shallow clone');
    // What the cut commits seem to add is left out: only the merge is whole here, and a merge has no churn of its own.
    expect(rows(shallow.markdown, 'Churn')).toEqual([]);
  });

  test('goes into a folder that git ignores when none is named, below the folder of the caller', async () => {
    const caller = join(rig.dir, 'caller');
    makeRepository(caller, [{ author: 'A', at: MONDAY, files: { 'a.txt': 'a\n' } }]);
    git(caller, ['checkout', '-q', '-f', 'main']);
    const { htmlPath, numbers } = await report(['--param', 'path=.'], 'default-out', caller);
    expect([htmlPath, numbers['commits']]).toEqual([join(caller, 'reports', 'caller', 'report.html'), 1]);
    expect(git(caller, ['status', '--porcelain'])).toBe('');
  });

  test('says what is wrong when there is no repository', async () => {
    const ended = await rig.plan(['run', PLAN, '--param', 'path=/nowhere at all'], { cwd: rig.dir });
    expect([ended.code, ended.stderr + ended.stdout]).toEqual([1, expect.stringContaining('/nowhere at all does not exist')]);
  });

  test.skipIf(!existsSync(join(ROOT, '.git')))('of this very repository has the commits that git counts', async () => {
    const head = git(ROOT, ['-c', 'safe.directory=*', 'rev-parse', 'HEAD']);
    const { numbers } = await report(['--param', `out=${rig.out}`], 'itself');
    expect(numbers).toMatchObject({ commit: head, commits: Number(git(ROOT, ['-c', 'safe.directory=*', 'rev-list', '--count', head])) });
  });
});

function unescaped(cell: string | undefined): string {
  return (cell ?? '').replace(/\\(.)/g, '$1').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
