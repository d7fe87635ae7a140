// @ts-check
// The program of the process in which a function of a plan's module runs: one call, then it ends. JavaScript, not
// TypeScript: it is started as it is, from the sources and from the build.
//
// In: stdin, one JSON object (ModuleRequest). Out: the file `reply`, one JSON object (ModuleReply), written once. What
// the function prints goes to the log of the step. Loads nothing that the function does not need: it is paid per call.
import { readFileSync, writeFileSync } from 'node:fs';
import { findNonJson } from '../core/non-json.js';

/**
 * @typedef {object} ModuleRequest
 * @property {string} url of the module
 * @property {string} file its path, for messages
 * @property {string} exported
 * @property {import('../core/json.js').JsonValue} args
 * @property {string} reply path of the file to answer in
 * @property {{ session_id: string, step_id: string, attempt: number }} about
 */

/**
 * An error as it crosses to the driver: its chain of causes, outermost first.
 * @typedef {{ name: string, message: string, code?: string, record?: unknown }} ErrorLink
 */

/**
 * `fault`: what went wrong around the function; `ended`: the process ended, or nothing was left to do, before the
 * function returned.
 * @typedef {{ kind: 'returned', result: import('../core/json.js').JsonValue }
 *   | { kind: 'not_json', path: string, found: string }
 *   | { kind: 'threw', errors: ErrorLink[], how: 'thrown' | 'uncaught' | 'not_awaited' }
 *   | { kind: 'fault', code: string, message: string }
 *   | { kind: 'ended', how: 'exit' | 'idle' }} ModuleReply
 */

const LONGEST_CHAIN = 10;
// Mistakes of the code: where they happened is worth a line in the log.
const MISTAKES = new Set(['TypeError', 'ReferenceError', 'SyntaxError', 'RangeError', 'EvalError', 'AssertionError']);

const exit = process.exit.bind(process);
/** @type {ModuleRequest} */
const request = JSON.parse(readFileSync(0, 'utf8'));
const controller = new AbortController();
let answered = false;
let asked = false;

process.on('SIGTERM', () => {
  controller.abort();
  // A function that never asked for the signal, in a module without a handler of its own, cannot obey it.
  if (!asked && process.listenerCount('SIGTERM') === 1) exit(143);
});
process.on('uncaughtException', (error, origin) => {
  const how = origin === 'unhandledRejection' ? 'not_awaited' : 'uncaught';
  writeStack(error, true);
  answer({ kind: 'threw', errors: linksOf(error), how });
  exit(1);
});
process.on('beforeExit', () => answer({ kind: 'ended', how: 'idle' }));
process.on('exit', () => answer({ kind: 'ended', how: 'exit' }));

void call();

async function call() {
  const found = await findFunction();
  if (typeof found !== 'function') return end(found);
  try {
    const returned = await found(request.args, context());
    // What was rejected meanwhile without anybody waiting for it is told before the result counts.
    await new Promise((resolve) => setImmediate(resolve));
    const wrong = returned === undefined ? undefined : findNonJson(returned);
    end(wrong === undefined ? { kind: 'returned', result: returned ?? null } : { kind: 'not_json', ...wrong });
  } catch (error) {
    writeStack(error, false);
    end({ kind: 'threw', errors: linksOf(error), how: 'thrown' });
  }
}

/** @returns {Promise<Function | ModuleReply>} */
async function findFunction() {
  const { url, file, exported } = request;
  /** @type {{ [name: string]: unknown }} */
  let module;
  try {
    module = await import(url);
  } catch (error) {
    const { name, message } = linksOf(error)[0] ?? { name: '', message: '' };
    return { kind: 'fault', code: 'module_failed', message: `the module ${file} could not be loaded: ${name === 'Error' || name === '' ? '' : `${name}: `}${message}` };
  }
  const found = Object.hasOwn(module, exported) ? module[exported] : undefined;
  if (typeof found === 'function') return found;
  const functions = Object.keys(module).filter((key) => typeof module[key] === 'function');
  return { kind: 'fault', code: 'function_missing', message: `the module ${file} exports no function "${exported}"; it exports ${functions.length === 0 ? 'none' : functions.join(', ')}` };
}

/** @returns {import('./action.js').FunctionContext} */
function context() {
  return {
    ...request.about,
    get signal() {
      asked = true;
      return controller.signal;
    },
    log: (line) => void process.stdout.write(`${line}\n`),
  };
}

// Explicitly: what the module left open (a pool of connections, a timer) must not keep the step from ending.
/** @param {ModuleReply} reply */
function end(reply) {
  answer(reply);
  exit(0);
}

/** @param {ModuleReply} reply */
function answer(reply) {
  if (answered) return;
  answered = true;
  writeFileSync(request.reply, JSON.stringify(reply), { mode: 0o600 });
}

/**
 * @param {unknown} error
 * @returns {ErrorLink[]}
 */
function linksOf(error) {
  /** @type {ErrorLink[]} */
  const links = [];
  for (let link = error; links.length < LONGEST_CHAIN; ) {
    if (typeof link !== 'object' || link === null) {
      if (links.length === 0) links.push({ name: '', message: String(link) });
      return links;
    }
    const { name, message, code, record, cause } = /** @type {{ [name: string]: unknown }} */ (link);
    links.push({
      name: typeof name === 'string' ? name : '',
      message: typeof message === 'string' ? message : '',
      ...(typeof code === 'string' ? { code } : {}),
      ...(record === undefined || findNonJson(record) !== undefined ? {} : { record }),
    });
    link = cause;
  }
  return links;
}

/**
 * Without the characters that `JSON.parse` quotes of its text: a part of a secret is none that the log's masker knows.
 * @param {unknown} error
 * @param {boolean} always
 */
function writeStack(error, always) {
  if (!(error instanceof Error) || !(always || MISTAKES.has(error.name))) return;
  process.stderr.write(`${(error.stack ?? error.message).replace(/(?:, )?(?:\.\.\.)?"[^]*"(?:\.\.\.)?(?= is not valid JSON)/, ': the text')}\n`);
}
