// `run`: a command, as a script for a shell or as an argument vector.
import { isUtf8 } from 'node:buffer';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import { ActionError, type ErrorRecord } from '../core/error.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import type { StepOutput } from '../core/step-state.js';
import type { LogSummary } from '../core/log-summary.js';
import type { RunAction, StepSpec } from '../plan/plan.js';
import { quote } from '../core/suggest.js';
import type { Masker } from '../process/masker.js';
import type { Captured } from '../process/output-sink.js';
import { whenFilesAreFree } from '../process/open-files.js';
import { createPipePool, type PipePool } from '../process/pipe-pool.js';
import { runProcess, type ProcessEnd, type ProcessRequest } from '../process/run-process.js';
import { makeScratch } from '../process/scratch.js';
import { checkCwd, findCommand } from '../process/spawn-child.js';
import { abortError } from './abort-error.js';
import type { Action, AttemptContext } from './action.js';
import { asActionError } from './as-action-error.js';
import { parseJson, readOutputFile, tooLarge } from './outputs.js';
import { stepEnvironment } from './step-environment.js';

/** The shells that a script gets when its step names none: the first that is installed. */
export const DEFAULT_SHELLS: ReadonlyArray<readonly string[]> = [
  ['bash', '-euo', 'pipefail', '-c'],
  ['sh', '-eu', '-c'],
];

/** The action for `run`. Pipes are shared by what uses one pool, so make one per executor. */
export function createRunAction(pool: PipePool = createPipePool()): Action<RunAction> {
  return { kind: 'run', execute: (action, context) => runCommand(action, context, pool) };
}

async function runCommand(action: RunAction, context: AttemptContext, pool: PipePool): ReturnType<Action['execute']> {
  const { step, masker } = context;
  if (context.signal.aborted) throw abortError(context.signal);
  const cwd = resolve(context.base_dir, step.cwd === undefined ? '.' : context.resolve.text(step.cwd, 'cwd'));
  const scratch = await whenFilesAreFree(context.signal, makeScratch);
  let log: LogSummary | undefined;
  try {
    checkCwd(cwd);
    const env = { ...stepEnvironment(context), PLAN_OUTPUT: scratch.output };
    const argv = argvOf(action, context, cwd, env);
    const request: ProcessRequest = {
      argv,
      cwd,
      env,
      ...(step.stdin === undefined ? {} : { stdin: context.resolve.text(step.stdin, 'stdin') }),
      capture: step.stdout !== undefined,
      log_path: context.log_path,
      masker,
      signal: context.signal,
      hurry: context.hurry,
      kill_grace: step.kill_grace,
      onLine: context.onLine,
      pool,
      scratch: scratch.folder,
    };
    // Out of files, it fails before anything is started.
    const end = await whenFilesAreFree(context.signal, () => runProcess(request));
    log = end.log;
    throwUnlessSuccess(end, context);
    const output: StepOutput = {
      outputs: readOutputFile(scratch.output, { specs: step.outputs, masker }),
      result: resultOf(step, end.captured, masker),
    };
    return { kind: 'completed', output, log };
  } catch (error) {
    const failure = asActionError(error, masker);
    throw log === undefined || failure.log !== undefined ? failure : new ActionError(failure.record, { log });
  } finally {
    scratch.remove();
  }
}

function argvOf(action: RunAction, context: AttemptContext, cwd: string, env: { [name: string]: string }): string[] {
  if (action.argv !== undefined) return action.argv.map((item, i) => context.resolve.text(item, `run[${i}]`));
  return [...shellOf(context.step, cwd, env), action.script ?? ''];
}

function shellOf(step: StepSpec, cwd: string, env: { [name: string]: string }): readonly string[] {
  if (step.shell === undefined) {
    const found = DEFAULT_SHELLS.find(([name]) => findCommand(name as string, cwd, env)?.executable);
    if (found !== undefined) return found;
    throw new ActionError({ class: 'permanent', code: 'shell_missing', message: `neither bash nor sh is in PATH (${env['PATH'] ?? 'not set'}); set PATH or name a \`shell\`` });
  }
  const [name = ''] = step.shell;
  if (findCommand(name, cwd, env)?.executable) return step.shell;
  throw new ActionError({ class: 'permanent', code: 'shell_missing', message: `the shell "${name}" is not installed or not executable; install it or name another \`shell\`` });
}

function throwUnlessSuccess(end: ProcessEnd, context: AttemptContext): void {
  const details: JsonObject = {
    ...(end.tail === '' ? {} : { tail: end.tail }),
    ...(end.left.length === 0 ? {} : { processes_left: end.left }),
  };
  if (end.kind === 'aborted') throw abortError(context.signal, { log: end.log, details });
  if (end.kind === 'exited' && end.exit_code === 0) return;
  const record: ErrorRecord =
    end.kind === 'signalled'
      ? { class: 'transient', code: 'signal', message: `the command was ended by ${end.signal} (exit code ${end.exit_code})`, exit_code: end.exit_code, signal: end.signal }
      : exitRecord(end.exit_code);
  throw new ActionError(Object.keys(details).length === 0 ? record : { ...record, details }, { log: end.log });
}

function exitRecord(code: number): ErrorRecord {
  // What a shell answers when a command cannot be executed or found: trying again gives the same.
  const permanent = code === 127 || code === 126;
  return { class: permanent ? 'permanent' : 'transient', code: 'exit', message: `the command ended with exit code ${code}${meaningOf(code)}`, exit_code: code };
}

function meaningOf(code: number): string {
  if (code === 127) return ': a command was not found';
  if (code === 126) return ': a command could not be executed';
  // So a shell tells of a command of its script that a signal ended.
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  if (signal === undefined) return '';
  if (signal === 'SIGPIPE') return ': a command of the script wrote into a pipe whose reader had ended (SIGPIPE), which pipefail makes a failure; let the reader read to the end, or allow it: … | head -1 || [ $? -eq 141 ]';
  return `: as a shell says it, a command of the script was ended by ${signal}${signal === 'SIGKILL' ? ' (perhaps for want of memory)' : ''}`;
}

// What `stdout:` of the step makes of the captured bytes.
function resultOf(step: StepSpec, captured: Captured | undefined, masker: Masker): JsonValue {
  if (step.stdout === undefined || captured === undefined) return null;
  if (captured.total > captured.bytes.length) throw tooLarge('stdout', captured.total);
  if (!isUtf8(captured.bytes)) {
    throw new ActionError({ class: 'permanent', code: 'not_utf8', message: `stdout holds bytes that are not UTF-8, so it cannot be read as ${step.stdout}; encode binary data, for example with base64` });
  }
  // As `$(…)` does it, the line end that closes the output is no part of the value.
  const text = captured.bytes.toString('utf8').replace(/\r?\n$/, '');
  if (step.stdout === 'text') return text;
  if (step.stdout === 'lines') return text === '' ? [] : text.split(/\r?\n/);
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw new ActionError({ class: 'permanent', code: 'not_json', message: `stdout was declared json but is none; it begins ${quote(masker.text(text))}` });
}
