// A function that a module beside the plan exports. It runs in a process of its own: what it prints belongs to its log,
// what it leaves unhandled and an exit of it end the step and nothing else, and a time limit ends it for certain.
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ActionError, type ErrorRecord } from '../core/error.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import type { LogSummary } from '../core/log-summary.js';
import type { StepSpec } from '../plan/plan.js';
import { whenFilesAreFree } from '../process/open-files.js';
import type { PipePool } from '../process/pipe-pool.js';
import { runProcess, type ProcessEnd, type ProcessRequest } from '../process/run-process.js';
import { makeScratch } from '../process/scratch.js';
import { abortError } from './abort-error.js';
import type { AttemptContext } from './action.js';
import { asActionError, foreignError } from './as-action-error.js';
import type { ErrorLink, ModuleReply, ModuleRequest } from './module-host.js';
import { notJson } from './not-json.js';
import { readWritten } from './outputs.js';
import { stepEnvironment } from './step-environment.js';

const HOST = fileURLToPath(new URL('./module-host.js', import.meta.url));

/** Whether the `function` of a `call` names a module (`./module.js#export`), not a registered function. */
export function namesModule(name: string): boolean {
  return name.includes('#') || /^\.{0,2}\//.test(name);
}

/** Whether an attempt of the step is a process of its own. */
export function startsProcess({ action }: StepSpec): boolean {
  return action.kind === 'run' || (action.kind === 'call' && namesModule(action.function));
}

/**
 * Calls the function in its own process and gives what it returned. The working folder is the plan's, the environment
 * that of a command of the step. Throws ActionError: what the function threw, in its class; `module_failed`,
 * `function_missing`, `not_json`, `process_exit`, `never_settled`, `output_too_large` (permanent); `signal` (transient).
 */
export async function callModule(name: string, args: JsonValue, context: AttemptContext, pool: PipePool | undefined): Promise<{ returned: JsonValue; log?: LogSummary }> {
  const { base_dir: cwd, step, masker } = context;
  const [path = '', exported = ''] = name.split('#');
  const file = resolve(cwd, path);
  const scratch = await whenFilesAreFree(context.signal, makeScratch);
  let log: LogSummary | undefined;
  try {
    const about = { session_id: context.session_id, step_id: step.id, attempt: context.attempt };
    const request: ModuleRequest = { url: pathToFileURL(file).href, file, exported: exported === '' ? 'default' : exported, args, reply: scratch.output, about };
    const command: ProcessRequest = {
      argv: [process.execPath, HOST],
      cwd,
      env: stepEnvironment(context),
      stdin: JSON.stringify(request),
      capture: false,
      log_path: context.log_path,
      empty_log: false,
      masker,
      signal: context.signal,
      hurry: context.hurry,
      kill_grace: step.kill_grace,
      onLine: context.onLine,
      pool,
      scratch: scratch.folder,
    };
    // Out of files, it fails before anything is started.
    const end = await whenFilesAreFree(context.signal, () => runProcess(command));
    log = end.log.bytes === 0 ? undefined : end.log;
    const returned = resultOf(end, name, scratch.output, context);
    return { returned, ...(log === undefined ? {} : { log }) };
  } catch (error) {
    const failure = asActionError(error, masker);
    throw log === undefined ? failure : new ActionError(failure.record, { log, cause: error });
  } finally {
    scratch.remove();
  }
}

function resultOf(end: ProcessEnd, name: string, replyFile: string, { signal, masker }: AttemptContext): JsonValue {
  const details: JsonObject = end.left.length === 0 ? {} : { processes_left: end.left };
  if (end.kind === 'aborted') throw abortError(signal, { details });
  const tail: JsonObject = end.tail === '' ? {} : { tail: end.tail };
  const text = readWritten(replyFile, `what ${name} gave`, 'the module must leave it alone');
  const reply = text === '' ? undefined : (JSON.parse(text) as ModuleReply);
  switch (reply?.kind) {
    case 'returned':
      return reply.result;
    case 'not_json':
      throw notJson(`what ${name} returns`, reply);
    case 'fault':
      throw failure({ class: 'permanent', code: reply.code, message: reply.message }, tail);
    case 'threw': {
      const { record } = foreignError(errorOf(reply.errors), masker);
      const how = { thrown: '', uncaught: `${name} threw where nothing caught it: `, not_awaited: `${name} left a rejected promise that nothing awaits: ` }[reply.how];
      throw failure({ ...record, message: `${how}${record.message}` }, tail);
    }
    case 'ended':
    case undefined:
      throw failure(endRecord(end, name, reply?.how), tail);
  }
}

// The process ended without a word of the function: what it did is not known, so it is not tried again by itself.
function endRecord(end: ProcessEnd, name: string, how: 'exit' | 'idle' | undefined): ErrorRecord {
  if (how === 'idle') {
    return { class: 'permanent', code: 'never_settled', message: `the promise that ${name} returned can never settle: nothing is left in its process that could do it; settle it in every case` };
  }
  if (end.kind === 'signalled') {
    return { class: 'transient', code: 'signal', message: `the process of ${name} was ended by ${end.signal} (exit code ${end.exit_code})`, exit_code: end.exit_code, signal: end.signal };
  }
  const code = end.kind === 'exited' ? end.exit_code : 1;
  return {
    class: 'permanent',
    code: 'process_exit',
    message: `${name} ended its process (process.exit, exit code ${code}) before it returned, so its outcome is not known; return a value, or throw PermanentError or TransientError`,
    exit_code: code,
  };
}

function errorOf(links: readonly ErrorLink[]): Error | undefined {
  return links.reduceRight<Error | undefined>((cause, link) => {
    const error = new Error(link.message, cause === undefined ? {} : { cause });
    error.name = link.name;
    return Object.assign(error, link.code === undefined ? {} : { code: link.code }, link.record === undefined ? {} : { record: link.record });
  }, undefined);
}

function failure(record: ErrorRecord, more: JsonObject): ActionError {
  const details = { ...record.details, ...more };
  return new ActionError(Object.keys(details).length === 0 ? record : { ...record, details });
}
