// `call`: a function of the host, or one that a module beside the plan exports.
import { Buffer } from 'node:buffer';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ActionError } from '../core/error.js';
import { findNonJson, type JsonValue } from '../core/json.js';
import type { LogSummary } from '../core/log-summary.js';
import type { CallAction } from '../plan/plan.js';
import { nearest } from '../core/suggest.js';
import { OutputSink, type SinkInput } from '../process/output-sink.js';
import { abortError } from './abort-error.js';
import type { Action, ActionOutcome, AttemptContext, FunctionContext, PlanFunction } from './action.js';
import { asActionError, foreignError } from './as-action-error.js';
import { notJson } from './not-json.js';
import { pickOutputs } from './outputs.js';

/** The action for `call`. result = what the function returns; nothing returned is null. */
export const callAction: Action<CallAction> = { kind: 'call', execute: call };

async function call(action: CallAction, context: AttemptContext): Promise<ActionOutcome> {
  const { masker, step } = context;
  if (context.signal.aborted) throw abortError(context.signal);
  const log = new FunctionLog(context);
  try {
    const target = await findFunction(action.function, context);
    const args = context.resolve.value(action.args, 'call.args');
    const returned = await invoke(target, args, { session_id: context.session_id, step_id: step.id, attempt: context.attempt, signal: context.signal, log: (line) => log.write(line) }, context);
    const result = jsonOf(returned, action.function);
    const outputs = pickOutputs(result, { specs: step.outputs, masker }, `what ${action.function} returned`);
    return { kind: 'completed', output: { outputs, result }, ...log.end() };
  } catch (error) {
    const failure = context.signal.aborted ? abortError(context.signal) : asActionError(error, masker);
    throw new ActionError(asActionError(failure, masker).record, { ...log.end(), cause: error });
  }
}

// Most functions write no line: a log is made at the first one.
class FunctionLog {
  readonly #context: AttemptContext;
  #open: { sink: OutputSink; lines: SinkInput } | undefined;
  #ended = false;

  constructor(context: AttemptContext) {
    this.#context = context;
  }

  write(line: string): void {
    // A function that was given up on may still write.
    if (this.#ended) return;
    const { masker, log_path, onLine } = this.#context;
    const sink = this.#open?.sink ?? new OutputSink({ masker, log_path, empty_log: false, onLine });
    this.#open ??= { sink, lines: sink.input('stdout') };
    this.#open.lines.push(Buffer.from(`${line}\n`));
  }

  end(): { log?: LogSummary } {
    this.#ended = true;
    this.#open?.lines.end();
    return this.#open === undefined ? {} : { log: this.#open.sink.end().log };
  }
}

// Settles when the function does; after an abort, at the latest when the grace is over.
async function invoke(target: PlanFunction, args: JsonValue, functionContext: FunctionContext, { signal, hurry, step, masker }: AttemptContext): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  let giveUp = () => undefined as void;
  const abandoned = new Promise<never>((_, reject) => {
    giveUp = () => reject(abortError(signal));
  });
  const startGrace = () => {
    timer = setTimeout(giveUp, step.kill_grace);
    if (hurry.aborted) giveUp();
    else hurry.addEventListener('abort', giveUp, { once: true });
  };
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });
  try {
    const running = Promise.resolve()
      .then(() => target(args, functionContext))
      .catch((error: unknown) => {
        throw foreignError(error, masker);
      });
    running.catch(() => undefined); // it may fail after it was given up on
    const returned = await Promise.race([running, abandoned]);
    if (signal.aborted) throw abortError(signal);
    return returned;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', startGrace);
    hurry.removeEventListener('abort', giveUp);
  }
}

async function findFunction(name: string, context: AttemptContext): Promise<PlanFunction> {
  if (name.includes('#') || /^\.{0,2}\//.test(name)) return importFunction(name, context.base_dir);
  const registered = context.functions.get(name);
  if (registered !== undefined) return registered;
  const near = nearest(name, context.functions.keys());
  const hint = near === undefined ? 'register it in the `functions` of PlanExecutor, or name a module: ./module.js#export' : `did you mean "${near}"?`;
  throw permanent('function_missing', `no function "${name}" is registered; ${hint}`);
}

async function importFunction(name: string, baseDir: string): Promise<PlanFunction> {
  const [path = '', exported = 'default'] = name.split('#');
  const file = resolve(baseDir, path);
  let module: { [name: string]: unknown };
  try {
    module = (await import(pathToFileURL(file).href)) as { [name: string]: unknown };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ActionError({ class: 'permanent', code: 'module_failed', message: `the module ${file} could not be loaded: ${reason}` }, { cause: error });
  }
  const found = module[exported === '' ? 'default' : exported];
  if (typeof found === 'function') return found as PlanFunction;
  const functions = Object.keys(module).filter((key) => typeof module[key] === 'function');
  throw permanent('function_missing', `the module ${file} exports no function "${exported}"; it exports ${functions.length === 0 ? 'none' : functions.join(', ')}`);
}

function jsonOf(returned: unknown, name: string): JsonValue {
  if (returned === undefined) return null;
  const found = findNonJson(returned);
  if (found !== undefined) throw notJson(`what ${name} returns`, found);
  // A copy: what the function keeps of it can be changed later.
  return JSON.parse(JSON.stringify(returned)) as JsonValue;
}

function permanent(code: string, message: string): ActionError {
  return new ActionError({ class: 'permanent', code, message });
}
