// One turn of one step: decide its `if`, charge the attempt, send it, and say what became of it. The driver records that.
import type { AbortCause } from '../actions/action.js';
import { ActionError, CancelRequestedError, type ErrorRecord } from '../core/error.js';
import type { CommitReason } from '../core/event.js';
import { formatDuration } from '../core/duration.js';
import type { JsonValue } from '../core/json.js';
import { isTerminal, type StepOutput } from '../core/step-state.js';
import type { LogSummary } from '../core/log-summary.js';
import { evaluateCondition } from '../expression/evaluate.js';
import type { StepSpec } from '../plan/plan.js';
import { sendAttempt, type SendingSession } from './send-attempt.js';
import type { SessionRecord } from './session-record.js';
import {
  stepCancelled,
  stepCompleted,
  stepFailed,
  stepFailedAttempt,
  stepInterrupted,
  stepSkipped,
  stepStarted,
  stepWaiting,
  type StepChange,
} from './step-change.js';
import { expressionFailure, readSteps, stepScope, stepsReferredTo, type StepReading } from './step-inputs.js';

export type StepTurn =
  /** The step has a new state to record. */
  | { kind: 'change'; change: StepChange; reason: CommitReason }
  /** Nothing was begun: the attempts of the session are spent. */
  | { kind: 'budget_spent' }
  /** Nothing to record: it was told to stop before it began, or its session belongs to another now. */
  | { kind: 'nothing' };

export interface StepRunContext {
  record: SessionRecord;
  sending: SendingSession;
  random: () => number;
  /** Asks the store at once whether a cancel is stored; the driver then aborts every step that it launched. */
  lookForCancel: () => Promise<void>;
}

// References of a step never change, so they are looked for once.
const referredTo = new WeakMap<StepSpec, string[]>();

export async function runStep(context: StepRunContext, spec: StepSpec, controller: AbortController): Promise<StepTurn> {
  const { record, sending } = context;
  let names = referredTo.get(spec);
  if (names === undefined) referredTo.set(spec, (names = stepsReferredTo(spec)));
  const readings = await readSteps(sending.source, names);

  const verdict = decideIf(context, spec, readings);
  if (verdict instanceof ActionError) return ending(stepFailed(spec, record.state(spec.id), mask(context, verdict.record), undefined, now(context)));
  if (verdict === false) return ending(stepSkipped(spec.id, record.state(spec.id), { kind: 'condition' }, false, now(context)));

  if (controller.signal.aborted) return cutShort(context, spec, controller.signal.reason as AbortCause, undefined) ?? { kind: 'nothing' };
  if (pastDeadline(context, spec)) return ending(stepFailed(spec, record.state(spec.id), lateError(spec), undefined, now(context)));
  const { attempts_used: used, attempts_limit: limit } = record.session;
  if (limit !== undefined && used >= limit) return { kind: 'budget_spent' };
  const begun = await record.begin(stepStarted(spec, record.state(spec.id), verdict, now(context)));
  // Refused: a cancel is stored. The step never began, and ends with those that the cancel finds running.
  if (!begun) await context.lookForCancel();
  if (controller.signal.aborted) return cutShort(context, spec, controller.signal.reason as AbortCause, undefined) ?? { kind: 'nothing' };
  if (!begun) throw new CancelRequestedError(record.sessionId);

  const result = await sendAttempt(sending, spec, record.state(spec.id), readings, controller);
  if (result.kind === 'outcome') {
    const { outcome } = result;
    if (outcome.kind === 'waiting_timer') return { kind: 'change', change: stepWaiting(spec.id, record.state(spec.id), outcome.wake_at), reason: 'timer_wait' };
    return completed(context, spec, outcome.output, outcome.log);
  }
  const cause = controller.signal.aborted ? (controller.signal.reason as AbortCause) : undefined;
  const cut = cause === undefined ? undefined : cutShort(context, spec, cause, result.log);
  return cut ?? failedAttempt(context, spec, result.error, result.log);
}

// The verdict is decided once and kept; undefined for a step without `if`.
function decideIf(context: StepRunContext, spec: StepSpec, readings: ReadonlyMap<string, StepReading>): boolean | undefined | ActionError {
  if (spec.if === undefined) return undefined;
  const { verdict } = context.record.state(spec.id);
  if (verdict !== undefined) return verdict;
  try {
    return evaluateCondition(spec.if, stepScope(context.sending.source, readings, spec).scope);
  } catch (error) {
    return error instanceof ActionError ? error : expressionFailure(`steps.${spec.id}.if`, error);
  }
}

// A deadline does not wait for a driver: what was open when it passed has failed.
function pastDeadline(context: StepRunContext, spec: StepSpec): boolean {
  const { deadline_at: deadline } = context.record.state(spec.id);
  return deadline !== undefined && deadline <= now(context);
}

function lateError(spec: StepSpec): ErrorRecord {
  const limit = spec.timeout === undefined ? '' : ` of ${formatDuration(spec.timeout)}`;
  return { class: 'timeout', code: 'step_timeout', message: `the step did not end within its timeout${limit}: its deadline passed before another attempt could begin` };
}

function completed(context: StepRunContext, spec: StepSpec, output: StepOutput, log: LogSummary | undefined): StepTurn {
  const { record, sending } = context;
  try {
    // Values are masked, the names that the plan declares are not: they are how later steps find the values.
    const outputs = Object.fromEntries(Object.entries(output.outputs).map(([name, value]) => [name, sending.masker.value(value)]));
    const stored = record.keep({ outputs, result: sending.masker.value(output.result) });
    return ending(stepCompleted(spec.id, record.state(spec.id), stored, log, now(context)));
  } catch (error) {
    if (error instanceof ActionError) return failedAttempt(context, spec, error.record, log);
    throw error;
  }
}

function failedAttempt(context: StepRunContext, spec: StepSpec, error: ErrorRecord, log: LogSummary | undefined): StepTurn {
  // The attempt's own limit ended it while the session was being ended: it must not be tried again.
  const { ending: decided } = context.record.session;
  if (!spec.finally && (decided === 'cancelled' || decided === 'expired')) {
    const why = decided === 'cancelled' ? 'the session was cancelled' : 'the deadline of the session passed';
    return ending(stepCancelled(spec.id, context.record.state(spec.id), why, log, now(context)));
  }
  const change = stepFailedAttempt(spec, context.record.state(spec.id), error, log, now(context), context.random());
  return change.type === 'step_retry_scheduled' ? { kind: 'change', change, reason: 'before_retry_wait' } : ending(change);
}

/** What an attempt that was told to stop has become; undefined when its own time limit stopped it, which is a failure. */
function cutShort(context: StepRunContext, spec: StepSpec, cause: AbortCause, log: LogSummary | undefined): StepTurn | undefined {
  const state = context.record.state(spec.id);
  if (isTerminal(state)) return { kind: 'nothing' };
  switch (cause.kind) {
    case 'interrupted':
      if (state.status !== 'running') return { kind: 'nothing' };
      return { kind: 'change', change: stepInterrupted(spec.id, state, { why: 'its driver was told to stop', attempt: state.attempt }), reason: 'interrupt' };
    case 'cancelled':
      return ending(stepCancelled(spec.id, state, `cancelled by ${cause.actor}: ${cause.reason}`, log, now(context)));
    case 'session_timeout':
      return ending(stepCancelled(spec.id, state, 'the deadline of the session passed', log, now(context)));
    case 'lease_lost':
      return { kind: 'nothing' };
    case 'attempt_timeout':
    case 'step_timeout':
      return undefined;
  }
}

function ending(change: StepChange): StepTurn {
  return { kind: 'change', change, reason: 'step_end' };
}

function now(context: StepRunContext): number {
  return context.sending.now();
}

function mask(context: StepRunContext, error: ErrorRecord): ErrorRecord {
  return context.sending.masker.value(error as unknown as JsonValue) as unknown as ErrorRecord;
}
