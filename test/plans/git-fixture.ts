// A repository made on purpose: awkward names, several authors, weeks, a merge, a rename, binary and empty files, a link,
// a submodule. What is in it is known here, so a report on it can be compared with something.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

const ENV = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  TZ: 'UTC',
  LC_ALL: 'C',
};

/** Git in a folder, with no configuration but its own; its answer without the last line end. */
export function git(folder: string, args: string[], input?: string | Buffer): string {
  return execFileSync('git', args, { cwd: folder, env: ENV, input: input ?? '', maxBuffer: 64 * 1024 * 1024 }).toString().replace(/\n$/, '');
}

export interface Commit {
  author: string;
  at: number; // s since the epoch
  files?: { [path: string]: string | Buffer | null }; // null deletes
  links?: { [path: string]: string };
  submodules?: { [path: string]: string };
  rename?: [from: string, to: string];
  parents?: number[]; // of earlier commits, from 1; default the one before
}

/** Makes a repository with these commits, on a branch whose name is awkward too. */
export function makeRepository(folder: string, commits: readonly Commit[]): void {
  mkdirSync(folder, { recursive: true });
  git(folder, ['init', '-q']);
  const parts: Buffer[] = [];
  const line = (text: string) => parts.push(Buffer.from(`${text}\n`));
  const data = (content: string | Buffer) => {
    const bytes = Buffer.from(content);
    line(`data ${bytes.length}`);
    parts.push(bytes, Buffer.from('\n'));
  };
  commits.forEach((commit, i) => {
    line('commit refs/heads/main');
    line(`mark :${i + 1}`);
    line(`author ${commit.author} <${commit.author.length}@example.org> ${commit.at} +0500`);
    line(`committer C <c@example.org> ${commit.at + 86_400 * 30} +0000`);
    data(`commit ${i + 1}`);
    const [first, ...others] = commit.parents ?? (i === 0 ? [] : [i]);
    if (first !== undefined) line(`from :${first}`);
    for (const other of others) line(`merge :${other}`);
    if (commit.rename !== undefined) line(`R ${quoted(commit.rename[0])} ${quoted(commit.rename[1])}`);
    for (const [path, content] of Object.entries(commit.files ?? {})) {
      if (content === null) line(`D ${quoted(path)}`);
      else {
        line(`M 100644 inline ${quoted(path)}`);
        data(content);
      }
    }
    for (const [path, target] of Object.entries(commit.links ?? {})) {
      line(`M 120000 inline ${quoted(path)}`);
      data(target);
    }
    for (const [path, hash] of Object.entries(commit.submodules ?? {})) line(`M 160000 ${hash} ${quoted(path)}`);
  });
  git(folder, ['fast-import', '--quiet'], Buffer.concat(parts));
  git(folder, ['symbolic-ref', 'HEAD', 'refs/heads/main']);
}

const quoted = (path: string) => `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
