// Finds the repository and pins the commit that everything else is about: commits that arrive meanwhile, or between a
// crash and the resume, change nothing. Gives its outputs through $PLAN_OUTPUT.
import { appendFileSync, existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { gitText } from './git.mjs';

const { REPO_PATH = '', CALLED_FROM = '.', PLAN_OUTPUT } = process.env;
const path = REPO_PATH === '' ? '.' : resolve(CALLED_FROM, REPO_PATH);
if (!existsSync(path)) fail(`${path} does not exist`);

// A bare repository has no top folder; there git runs in the repository itself.
const top = (await ask('--show-toplevel')) || (await ask('--absolute-git-dir'));
if (top === '') {
  const why = await gitText(path, ['rev-parse', '--git-dir']).catch((error) => error.message);
  fail(REPO_PATH === '' ? `the folder of this plan is in no git repository; name one: --param path=FOLDER (${why})` : `${path} is in no git repository (${why})`);
}

const head = await gitText(top, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { allow: [1] });
const outputs = {
  path: top,
  name: basename(top).replace(/(.)\.git$/, '$1'),
  head,
  branch: await gitText(top, ['symbolic-ref', '--quiet', '--short', 'HEAD'], { allow: [1, 128] }),
  committed_at: head === '' ? '' : await gitText(top, ['show', '--no-patch', '--format=%cI', head]),
  commits: head === '' ? 0 : Number(await gitText(top, ['rev-list', '--count', head])),
  shallow: (await ask('--is-shallow-repository')) === 'true',
};
appendFileSync(PLAN_OUTPUT, `${JSON.stringify(outputs)}\n`);
console.log(`${outputs.path} at ${head === '' ? 'no commit yet' : head}`);

function ask(question) {
  return gitText(path, ['rev-parse', question], { allow: [128] });
}

function fail(message) {
  console.error(`repo-report: ${message}`);
  process.exit(2);
}
