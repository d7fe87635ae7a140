// The one place where a step is sent: everything that leaves the session goes through `sendAttempt`.
import { join } from 'node:path';
import { stillRunningError } from '../actions/abort-error.js';
import { asActionError } from '../actions/as-action-error.js';
import type { AbortCause, ActionOutcome, AttemptContext, FunctionTable } from '../actions/action.js';
import type { ActionRegistry } from '../actions/registry.js';
import type { Clock } from '../core/clock.js';
import type { ErrorRecord } from '../core/error.js';
import type { StepState } from '../core/step-state.js';
import type { LogSummary } from '../core/log-summary.js';
import type { StepSpec } from '../plan/plan.js';
import type { Masker } from '../process/masker.js';
import { processTag, type DriveMark } from '../process/process-tag.js';
import { resolveEnv, resolverOf, stepScope, type InputSource, type StepReading } from './step-inputs.js';
import type { OutputLine } from './session-handle.js';

/** How long after its grace an attempt that was told to end may take; ending processes is bounded below it. */
const STOP_BOUND_MS = 30_000;

/** What attempts of one session share. */
export interface SendingSession {
  source: InputSource;
  registry: ActionRegistry;
  functions: FunctionTable;
  clock: Clock;
  /** The time of this drive: wall time when it began, and on evenly from there. */
  now: () => number;
  masker: Masker;
  /** Where the base environment of commands comes from. */
  hostEnv: { [name: string]: string | undefined };
  /** Marks the processes of this drive. */
  mark: DriveMark;
  /** Aborts when running attempts must end without grace. */
  hurry: AbortSignal;
  /** Folder of this session's logs; undefined when the store keeps no files. */
  logDir: string | undefined;
  onOutput?: ((line: OutputLine) => void) | undefined;
}

export type AttemptResult =
  | { kind: 'outcome'; outcome: ActionOutcome }
  | { kind: 'failure'; error: ErrorRecord; log?: LogSummary };

/** Name of the log file of one attempt; step ids are safe as file names. */
export function logFileName(stepId: string, generation: number, attempt: number): string {
  return `${stepId}.${generation}.${attempt}.log`;
}

/**
 * Sends one attempt that was charged already, and waits for its end. Never throws: what goes wrong is a failure with
 * a class. The attempt's time limits abort `controller`; whoever else aborts it says why in the reason.
 */
export async function sendAttempt(
  session: SendingSession,
  spec: StepSpec,
  state: StepState,
  readings: ReadonlyMap<string, StepReading>,
  controller: AbortController,
): Promise<AttemptResult> {
  const limit = limitOf(spec, state, session.now());
  const done = limit === undefined ? undefined : new AbortController();
  if (limit !== undefined && done !== undefined) {
    void session.clock.sleep(Math.max(0, limit.at - session.now()), done.signal).then(() => {
      if (!done.signal.aborted && !controller.signal.aborted) controller.abort(limit.cause);
    });
  }
  try {
    const context = contextOf(session, spec, state, readings, controller.signal);
    const running = session.registry.get(spec.action.kind).execute(spec.action, context);
    const outcome = await boundedAfterAbort(session, spec, controller.signal, running);
    return { kind: 'outcome', outcome };
  } catch (error) {
    const failure = asActionError(error, session.masker);
    return { kind: 'failure', error: failure.record, ...(failure.log === undefined ? {} : { log: failure.log }) };
  } finally {
    done?.abort();
  }
}

// However an action behaves, an attempt that was told to end does not hold its session for ever.
async function boundedAfterAbort(session: SendingSession, spec: StepSpec, signal: AbortSignal, running: Promise<ActionOutcome>): Promise<ActionOutcome> {
  let giveUp: (error: Error) => void = () => undefined;
  const abandoned = new Promise<never>((_, reject) => (giveUp = reject));
  let sleeper: AbortController | undefined;
  const wait = () => {
    const mine = (sleeper = new AbortController());
    void session.clock.sleep(spec.kill_grace + STOP_BOUND_MS, mine.signal).then(() => {
      if (!mine.signal.aborted) giveUp(stillRunningError(signal));
    });
  };
  if (signal.aborted) wait();
  else signal.addEventListener('abort', wait, { once: true });
  try {
    return await Promise.race([running, abandoned]);
  } finally {
    signal.removeEventListener('abort', wait);
    sleeper?.abort();
  }
}

function limitOf(spec: StepSpec, state: StepState, now: number): { at: number; cause: AbortCause } | undefined {
  const attemptEnd = spec.attempt_timeout === undefined ? Infinity : now + spec.attempt_timeout;
  const stepEnd = state.deadline_at ?? Infinity;
  if (attemptEnd === Infinity && stepEnd === Infinity) return undefined;
  return attemptEnd <= stepEnd
    ? { at: attemptEnd, cause: { kind: 'attempt_timeout', limit_ms: spec.attempt_timeout as number } }
    : { at: stepEnd, cause: { kind: 'step_timeout', limit_ms: spec.timeout ?? stepEnd - (state.started_at ?? now) } };
}

function contextOf(
  session: SendingSession,
  spec: StepSpec,
  state: StepState,
  readings: ReadonlyMap<string, StepReading>,
  signal: AbortSignal,
): AttemptContext {
  const { source, onOutput } = session;
  const { scope, planEnv } = stepScope(source, readings, spec);
  return {
    session_id: source.start.session_id,
    step: spec,
    generation: state.generation,
    attempt: state.attempt,
    epoch: session.mark.epoch,
    base_dir: source.start.base_dir,
    env: { ...planEnv, ...resolveEnv(spec.env, source.start, scope) },
    resolve: resolverOf(spec.id, scope),
    clock: session.clock,
    now: session.now,
    masker: session.masker,
    signal,
    hurry: session.hurry,
    host_env: session.hostEnv,
    log_path: session.logDir === undefined ? undefined : join(session.logDir, logFileName(spec.id, state.generation, state.attempt)),
    process_tag: processTag(session.mark, { step_id: spec.id, generation: state.generation, attempt: state.attempt }),
    functions: session.functions,
    ...(onOutput === undefined ? {} : { onLine: lineTeller(spec, state.attempt, onOutput) }),
  };
}

// A captured stdout is the value of the step, kept as such; it is no line for people. Otherwise both streams come as one.
function lineTeller(spec: StepSpec, attempt: number, onOutput: (line: OutputLine) => void): NonNullable<AttemptContext['onLine']> {
  const captured = spec.stdout !== undefined;
  return (stream, line) => {
    if (!captured || stream === 'stderr') onOutput({ step_id: spec.id, attempt, stream: captured ? 'stderr' : 'output', line });
  };
}
