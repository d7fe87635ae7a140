// `call`: a function of the host, which runs here, or one that a module beside the plan exports (call-module.ts).
import { Buffer } from 'node:buffer';
import { ActionError } from '../core/error.js';
import { findNonJson, type JsonValue } from '../core/json.js';
import type { LogSummary } from '../core/log-summary.js';
import type { CallAction } from '../plan/plan.js';
import { nearest } from '../core/suggest.js';
import { OutputSink, type SinkInput } from '../process/output-sink.js';
import { parseTag } from '../process/process-tag.js';
import { createPipePool, type PipePool } from '../process/pipe-pool.js';
import { abortError, stillRunningError } from './abort-error.js';
import type { Action, ActionOutcome, AttemptContext, FunctionContext, PlanFunction } from './action.js';
import { asActionError, foreignError } from './as-action-error.js';
import { callModule, namesModule } from './call-module.js';
import { notJson } from './not-json.js';
import { pickOutputs } from './outputs.js';

// Functions that were given up on and have not settled, by the place of their step: no attempt begins beside one.
const stillRunning = new Set<string>();

/** The action for `call`. result = what the function returns; nothing returned is null. */
export function createCallAction(pool: PipePool = createPipePool()): Action<CallAction> {
  const action: Action<CallAction> = { kind: 'call', execute: (one, context) => call(one, context, pool) };
  standard.add(action);
  return action;
}

const standard = new WeakSet<object>();

/** Whether an action looks functions up among those that are registered; one that a host brought may find them its own way. */
export function isStandardCall(action: object): boolean {
  return standard.has(action);
}

async function call(action: CallAction, context: AttemptContext, pool: PipePool): Promise<ActionOutcome> {
  const { masker, step } = context;
  if (context.signal.aborted) throw abortError(context.signal);
  const args = context.resolve.value(action.args, 'call.args');
  const ended = namesModule(action.function) ? await callModule(action.function, args, context, pool) : await callRegistered(action.function, args, context);
  try {
    const outputs = pickOutputs(ended.returned, { specs: step.outputs, masker }, `what ${action.function} returned`);
    const output = { outputs, result: ended.returned };
    return { kind: 'completed', output, ...(ended.log === undefined ? {} : { log: ended.log }) };
  } catch (error) {
    throw new ActionError(asActionError(error, masker).record, { ...(ended.log === undefined ? {} : { log: ended.log }), cause: error });
  }
}

async function callRegistered(name: string, args: JsonValue, context: AttemptContext): Promise<{ returned: JsonValue; log?: LogSummary }> {
  const log = new FunctionLog(context);
  try {
    const about = { session_id: context.session_id, step_id: context.step.id, attempt: context.attempt };
    const returned = await invoke(findFunction(name, context), args, { ...about, signal: context.signal, log: (line) => log.write(line) }, context);
    return { returned: jsonOf(returned, name), ...log.end() };
  } catch (error) {
    throw new ActionError(asActionError(error, context.masker).record, { ...log.end(), cause: error });
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

// Settles when the function does; after an abort, at the latest when the grace is over. Nothing can end a function of
// this process: one that goes on after its grace is said to, and no other attempt begins beside it.
async function invoke(target: PlanFunction, args: JsonValue, functionContext: FunctionContext, context: AttemptContext): Promise<unknown> {
  const { signal, hurry, step } = context;
  const place = placeOf(context);
  if (stillRunning.has(place)) throw permanent('still_running', `an earlier attempt of the function still runs in this process, and nothing can end it; try again when it has ended, or in a new process`);
  let timer: NodeJS.Timeout | undefined;
  let giveUp = () => undefined as void;
  let settled = false;
  const abandoned = new Promise<never>((_, reject) => {
    giveUp = () => {
      if (settled) return;
      stillRunning.add(place);
      reject(stillRunningError(signal));
    };
  });
  // A turn later, so that a function that obeys is heard.
  const hurried = () => void setImmediate(giveUp);
  const startGrace = () => {
    timer = setTimeout(giveUp, step.kill_grace);
    if (hurry.aborted) hurried();
    else hurry.addEventListener('abort', hurried, { once: true });
  };
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });
  try {
    const running = Promise.resolve()
      .then(() => target(args, functionContext))
      .catch((error: unknown) => {
        throw foreignError(error, context.masker);
      });
    const done = () => {
      settled = true;
      stillRunning.delete(place);
    };
    running.then(done, done); // also after it was given up on
    const returned = await Promise.race([running, abandoned]);
    if (signal.aborted) throw abortError(signal);
    return returned;
  } catch (error) {
    // What a function throws because it was told to end says nothing more than that.
    if (signal.aborted && !stillRunning.has(place)) throw abortError(signal);
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', startGrace);
    hurry.removeEventListener('abort', hurried);
  }
}

// Which step of which store this is, whoever drives it: a later drive in this process must not begin beside it either.
function placeOf({ process_tag: tag, session_id: session, step }: AttemptContext): string {
  const mark = parseTag(tag);
  return [mark === undefined ? tag : `${mark.store.id}.${mark.store.instance}`, session, step.id].join('/');
}

function findFunction(name: string, context: AttemptContext): PlanFunction {
  const registered = context.functions.get(name);
  if (registered !== undefined) return registered;
  const near = nearest(name, context.functions.keys());
  const hint = near === undefined ? 'register it in the `functions` of PlanExecutor, or name a module: ./module.js#export' : `did you mean "${near}"?`;
  throw permanent('function_missing', `no function "${name}" is registered; ${hint}`);
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
