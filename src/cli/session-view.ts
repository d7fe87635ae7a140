// A session as `plan show` tells it, made from the store alone; the text and the JSON are two prints of it.
import type { ErrorRecord } from '../core/error.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import { isTerminalSession } from '../core/session-state.js';
import { isTerminal, PENDING, STEP_STATUSES, type SkipReason, type StepOutput, type StepState, type StepStatus, type StoredValue } from '../core/step-state.js';
import type { LogSummary } from '../core/log-summary.js';
import { storedPlan } from '../executor/stored-plan.js';
import type { StepSpec } from '../plan/plan.js';
import type { Store, StoredSession } from '../store/store.js';
import { logPath } from './log-files.js';
import { nextCommands, type NextCommand } from './next-commands.js';
import { headOf, isDriven, type SessionHead } from './session-head.js';

/** A value too large to be shown whole; `plan show SESSION STEP --json` gives all of it. */
export interface LargeValue {
  digest: string;
  bytes: number;
  /** The beginning of its JSON text. */
  preview: string;
}

export interface StepView {
  id: string;
  kind: string;
  finally: boolean;
  needs: string[];
  status: StepStatus;
  generation: number;
  /** Attempts begun in this generation, and how many may fail. */
  attempt: number;
  max_attempts: number;
  failures: number;
  interruptions: number;
  /** What `if` gave. */
  verdict?: boolean;
  started_at?: number;
  attempt_started_at?: number;
  ended_at?: number;
  duration_ms?: number;
  deadline_at?: number;
  next_retry_at?: number;
  wake_at?: number;
  outputs?: JsonObject;
  result?: JsonValue;
  large_output?: LargeValue;
  /** Of a failed step; of one that waits for a retry, the failure that it answers. */
  error?: ErrorRecord;
  tolerated?: boolean;
  skip_reason?: SkipReason;
  cancel_reason?: string;
  log?: LogSummary & { path?: string };
}

export interface SessionView extends SessionHead {
  base_dir: string;
  params: JsonObject;
  counts: { [status in StepStatus]: number };
  /** What an open session waits for. */
  waiting?: { for: 'retry' | 'timer' | 'budget'; step_id?: string; until?: number };
  outputs?: JsonObject;
  large_outputs?: LargeValue;
  next: NextCommand[];
  last_seq: number;
  steps: StepView[];
}

/** @param whole ids of steps whose large values are read in full */
export async function viewSession(store: Store, stored: StoredSession, now: number, options: { storeOption: string; whole?: readonly string[] }): Promise<SessionView> {
  const plan = storedPlan(store, stored);
  const head = headOf(stored, now);
  const states = await store.loadSteps(stored.start.session_id);
  const steps: StepView[] = [];
  for (const spec of plan.steps) {
    const state = states.get(spec.id)?.state ?? PENDING;
    steps.push(await viewStep(store, stored.start.session_id, spec, state, head.interrupted ? undefined : now, options.whole?.includes(spec.id) === true));
  }
  const counts = Object.fromEntries(STEP_STATUSES.map((status) => [status, 0])) as SessionView['counts'];
  for (const step of steps) counts[step.status] += 1;
  const { outputs } = stored.state;
  const waiting = waitingOf(stored, steps);
  return {
    ...head,
    base_dir: stored.start.base_dir,
    params: stored.start.params,
    counts,
    ...(waiting === undefined ? {} : { waiting }),
    ...(outputs === undefined ? {} : outputs.in === 'row' ? { outputs: outputs.value as JsonObject } : { large_outputs: largeOf(outputs) }),
    next: nextCommands({ ...head, interrupted: !isDriven(stored, now), step_id: head.error?.step_id }, options.storeOption),
    last_seq: stored.last_seq,
    steps,
  };
}

/** @param now undefined when nobody drives the session, so that no time passes for what is open */
async function viewStep(store: Store, sessionId: string, spec: StepSpec, state: StepState, now: number | undefined, whole: boolean): Promise<StepView> {
  const end = isTerminal(state) ? state.ended_at : state.status === 'pending' ? undefined : now;
  return {
    id: spec.id,
    kind: spec.action.kind,
    finally: spec.finally,
    needs: [...spec.needs],
    status: state.status,
    generation: state.generation,
    attempt: state.attempt,
    max_attempts: spec.retry.max_attempts,
    failures: state.failures,
    interruptions: state.interruptions,
    ...(state.verdict === undefined ? {} : { verdict: state.verdict }),
    ...(state.started_at === undefined ? {} : { started_at: state.started_at }),
    ...(state.status === 'running' ? { attempt_started_at: state.attempt_started_at } : {}),
    ...(isTerminal(state) ? { ended_at: state.ended_at } : {}),
    ...(state.started_at === undefined || end === undefined ? {} : { duration_ms: Math.max(0, end - state.started_at) }),
    ...(state.deadline_at === undefined ? {} : { deadline_at: state.deadline_at }),
    ...(await statusParts(store, state, whole)),
    ...logPart(store, sessionId, spec, state),
  };
}

async function statusParts(store: Store, state: StepState, whole: boolean): Promise<Partial<StepView>> {
  switch (state.status) {
    case 'completed':
      return outputParts(store, state.output, whole);
    case 'failed':
      return { error: state.error, tolerated: state.tolerated };
    case 'retry_wait':
      return { error: state.last_error, next_retry_at: state.next_retry_at };
    case 'waiting_timer':
      return { wake_at: state.wake_at };
    case 'skipped':
      return { skip_reason: state.reason };
    case 'cancelled':
      return { cancel_reason: state.reason };
    case 'pending':
    case 'running':
      return state.last_error === undefined ? {} : { error: state.last_error };
  }
}

async function outputParts(store: Store, output: StoredValue, whole: boolean): Promise<Partial<StepView>> {
  if (output.in === 'blob' && !whole) return { large_output: largeOf(output) };
  const content = output.in === 'row' ? output.value : await store.getBlob(output.digest);
  const value = output.in === 'row' ? content : content === undefined ? undefined : (JSON.parse(content as string) as JsonValue);
  // A value that the store lost is shown by what is known of it; plan audit tells the loss.
  if (value === undefined) return output.in === 'blob' ? { large_output: largeOf(output) } : {};
  const { outputs, result } = value as unknown as StepOutput;
  return { outputs, result };
}

function largeOf({ digest, bytes, preview }: Extract<StoredValue, { in: 'blob' }>): LargeValue {
  return { digest, bytes, preview };
}

function logPart(store: Store, sessionId: string, spec: StepSpec, state: StepState): Pick<StepView, 'log'> {
  if (!('log' in state) || state.log === undefined) return {};
  const path = store.logDir === undefined ? {} : { path: logPath(`${store.logDir}/${sessionId}`, spec.id, state.generation, state.attempt) };
  return { log: { ...state.log, ...path } };
}

function waitingOf({ state }: StoredSession, steps: readonly StepView[]): SessionView['waiting'] {
  if (isTerminalSession(state.status)) return undefined;
  if (state.status === 'paused_budget') return { for: 'budget' };
  if (steps.some((step) => step.status === 'running')) return undefined;
  let first: { for: 'retry' | 'timer'; step_id: string; until: number } | undefined;
  for (const { id, next_retry_at: retryAt, wake_at: wakeAt } of steps) {
    const until = retryAt ?? wakeAt;
    if (until !== undefined && (first === undefined || until < first.until)) first = { for: retryAt === undefined ? 'timer' : 'retry', step_id: id, until };
  }
  return first;
}
