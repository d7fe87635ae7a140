// Runs git for the steps of the report. What the user's configuration could change in the answers is set here.
import { spawn } from 'node:child_process';
import { Buffer } from 'node:buffer';

const CONFIG = [
  'core.quotePath=false',
  'color.ui=false',
  'diff.algorithm=myers',
  'diff.external=',
  'grep.fullName=true',
  'log.showRoot=true',
  'log.showSignature=false',
].flatMap((setting) => ['-c', setting]);

/**
 * The answer of git as it comes: buffers of its standard output.
 * @param {string} folder where git runs
 * @param {string[]} args
 * @param {{ allow?: number[] }} options exit codes besides 0 that are no failure
 */
export async function* gitOutput(folder, args, { allow = [] } = {}) {
  const child = spawn('git', [...CONFIG, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing is written to the repository (not even a refreshed index), and nobody is asked for a password.
    env: { ...process.env, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat' },
  });
  const ended = new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`git cannot be run in ${folder}: ${error.message}`)));
    child.once('close', resolve);
  });
  ended.catch(() => {}); // awaited below; the pipe may end first
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    if (complaint.length < 4000) complaint += text;
  });
  yield* child.stdout;
  const code = await ended;
  if (code !== 0 && !allow.includes(code)) throw new Error(`git ${args[0]} in ${folder} ended with ${code}: ${complaint.trim()}`);
}

/** The whole answer of git as text, without the line end that closes it. */
export async function gitText(folder, args, options) {
  const chunks = [];
  for await (const chunk of gitOutput(folder, args, options)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8').replace(/\n$/, '');
}

/** The parts of git's answer between the bytes `ends`, taken in turn: "\0" parts alike, or "\0" and "\n" by turns. */
export async function* gitFields(folder, args, { ends = '\0', ...options } = {}) {
  let rest = Buffer.alloc(0);
  let turn = 0;
  for await (const chunk of gitOutput(folder, args, options)) {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (;;) {
      const at = data.indexOf(ends[turn], from);
      if (at < 0) break;
      yield data.toString('utf8', from, at);
      from = at + 1;
      turn = (turn + 1) % ends.length;
    }
    rest = data.subarray(from);
  }
  if (rest.length > 0) yield rest.toString('utf8');
}
