// Getting hold of a session: a new one, or one that another process left. After this its driver may begin.
import type { FunctionTable } from '../actions/action.js';
import type { ActionRegistry } from '../actions/registry.js';
import type { Clock } from '../core/clock.js';
import { UsageError } from '../core/error.js';
import type { Change } from '../core/event.js';
import { isSessionId } from '../core/id.js';
import type { JsonObject } from '../core/json.js';
import type { SessionStart, SessionState } from '../core/session-state.js';
import { isTerminal, PENDING, type StepState } from '../core/step-state.js';
import { shapeOf, type PlanShape } from '../graph/plan-shape.js';
import { bindParams } from '../plan/bind-params.js';
import type { LoadedPlan } from '../plan/load.js';
import { parsePlanJson, planJson, storedForm } from '../plan/plan-json.js';
import type { Plan, StepSpec } from '../plan/plan.js';
import { endOrphans } from '../process/orphans.js';
import type { Lease, Store, StoredSession } from '../store/store.js';
import { LEASE_MS, newHolder, refuseIfHeld, takeSession } from './lease-keeper.js';
import { deadLetter, interruptedSteps, resetSteps, sessionRetried, stepsToRetry } from './resume-plan.js';
import { requireFunctions } from './require-functions.js';
import { processTagPrefix } from './send-attempt.js';
import { planEnvSecrets } from './step-inputs.js';

/** What opening needs of the host. */
export interface Host {
  store: Store;
  clock: Clock;
  secret: (name: string) => string | undefined;
  env: { [name: string]: string | undefined };
  registry: ActionRegistry;
  functions: FunctionTable;
}

/** A session that this process drives now. */
export interface OpenSession {
  plan: Plan;
  shape: PlanShape;
  start: SessionStart;
  lease: Lease;
  session: SessionState;
  steps: Map<string, StepState>;
  /** Events up to this seq were there before this drive. */
  seenSeq: number;
  /** To be written by the driver before anything else. */
  changes: Change[];
  reason: 'session_resume' | 'retry' | undefined;
  /** Set when the session is found dead: a step was interrupted too often. */
  deadLetter?: StepSpec;
}

/** Creates a session. UsageError: `bad_session_id`, `session_exists`, `invalid_params`, `unknown_function`, `missing_secrets`. */
export async function createSession(host: Host, loaded: LoadedPlan, sessionId: string, params: JsonObject): Promise<OpenSession> {
  const plan = storedForm(loaded.plan);
  const now = host.clock.now();
  if (!isSessionId(sessionId)) {
    throw new UsageError('bad_session_id', `"${sessionId}" cannot name a session: use letters, digits, "_" and "-", at most 100, and no device name such as "con"`);
  }
  const bound = bindParams(plan, params, {});
  if (!bound.ok) throw new UsageError('invalid_params', bound.problems.map((problem) => problem.message).join('; '));
  requireFunctions(host, plan.steps);
  requireSecrets(host, plan, plan.steps);
  const start: SessionStart = {
    session_id: sessionId,
    plan_hash: plan.plan_hash,
    plan_name: plan.name,
    created_at: now,
    params: bound.params,
    host_env: Object.fromEntries(plan.host_env.map((name) => [name, host.env[name] ?? null])),
    base_dir: loaded.base_dir,
    plan_file: loaded.file,
  };
  const session: SessionState = {
    status: 'running',
    generation: 1,
    attempts_used: 0,
    ...(plan.timeout === undefined ? {} : { deadline_at: now + plan.timeout }),
    ...(plan.budget.attempts === undefined ? {} : { attempts_limit: plan.budget.attempts }),
  };
  const lease = await host.store.createSession({
    start,
    plan_json: planJson(loaded.plan),
    plan_source: loaded.source,
    state: session,
    holder: newHolder(),
    lease_expires_at: now + LEASE_MS,
    at: now,
    data: { plan_name: plan.name, plan_hash: plan.plan_hash, plan_file: loaded.file, params: bound.params },
  });
  return { plan, shape: shapeOf(plan), start, lease, session, steps: new Map(), seenSeq: 0, changes: [], reason: undefined };
}

export interface TakeOptions {
  /** `cancel`: drive the session to its end whatever its state; `retry`: begin a new generation. */
  mode: 'resume' | 'retry' | 'cancel';
  from?: readonly string[];
  actor?: string;
  addAttempts?: number;
}

/**
 * Takes over a session. Returns the stored session instead when there is nothing left to drive (it completed).
 * UsageError: `unknown_session`, `session_ended`, `unknown_step`, `unknown_function`, `missing_secrets`; SessionHeldError.
 */
export async function takeOverSession(host: Host, sessionId: string, options: TakeOptions): Promise<OpenSession | StoredSession> {
  const before = await loadSession(host, sessionId);
  if (before.stored.state.status === 'completed' && options.mode !== 'retry') return before.stored;
  refuseIfEnded(before.stored, options.mode);
  refuseIfHeld(before.stored.lease, host.clock.now());
  // Everything that a user can get wrong is said before the session is touched.
  const wanted = again(before, options);
  if (options.mode !== 'cancel') {
    requireFunctions(host, toRun(before, wanted));
    requireSecrets(host, before.plan, toRun(before, wanted));
  }

  const holder = newHolder();
  const lease = await takeSession(host.store, sessionId, before.stored.lease, holder, host.clock.now());
  try {
    const now = await loadSession(host, sessionId, before);
    if (now.stored.state.status === 'completed' && options.mode !== 'retry') {
      await host.store.releaseLease(lease);
      return now.stored;
    }
    refuseIfEnded(now.stored, options.mode);
    await endOrphans(processTagPrefix(host.store, sessionId), 2000, logDirOf(host.store, sessionId));
    return opened(host, now, lease, options);
  } catch (error) {
    await host.store.releaseLease(lease);
    throw error;
  }
}

export function logDirOf(store: Store, sessionId: string): string | undefined {
  return store.logDir === undefined ? undefined : `${store.logDir}/${sessionId}`;
}

interface Loaded {
  stored: StoredSession;
  plan: Plan;
  shape: PlanShape;
  steps: Map<string, StepState>;
  stateOf: (id: string) => StepState;
}

// `known`: the session as loaded before; its plan never changes.
async function loadSession(host: Host, sessionId: string, known?: Loaded): Promise<Loaded> {
  const stored = await host.store.getSession(sessionId);
  if (stored === undefined) {
    throw new UsageError('unknown_session', `there is no session "${sessionId}" in ${host.store.location}; to see the sessions there: plan list`);
  }
  const plan = known?.plan ?? parsePlanJson(stored.plan_json);
  const steps = new Map([...(await host.store.loadSteps(sessionId))].map(([id, update]) => [id, update.state]));
  return { stored, plan, shape: known?.shape ?? shapeOf(plan), steps, stateOf: (id) => steps.get(id) ?? PENDING };
}

function refuseIfEnded(stored: StoredSession, mode: TakeOptions['mode']): void {
  const { status } = stored.state;
  const id = stored.start.session_id;
  const ended = status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'expired' || status === 'dead_letter';
  if (mode === 'retry') {
    if (status === 'completed') throw new UsageError('session_ended', `session ${id} completed: there is nothing to retry; to run the plan again: plan run ${stored.start.plan_file}`);
    if (!ended) throw new UsageError('session_open', `session ${id} is ${status}: it has not ended, so there is nothing to retry; to go on: plan resume ${id}`);
    return;
  }
  if (status === 'failed' && mode === 'resume') return;
  if (ended && status !== 'completed') {
    throw new UsageError('session_ended', `session ${id} is ${status}; to run its unfinished steps again: plan retry ${id}`);
  }
}

// The steps that begin a new generation: on a retry, and on a resume of a failed session.
function again(loaded: Loaded, options: TakeOptions): string[] | undefined {
  const { stored, plan, shape, stateOf } = loaded;
  if (options.mode !== 'retry' && stored.state.status !== 'failed') return undefined;
  const from = options.from ?? [];
  const unknown = from.filter((id) => !shape.byId.has(id));
  if (unknown.length > 0) {
    throw new UsageError('unknown_step', `session ${stored.start.session_id} has no step "${unknown.join('", "')}"; its steps: ${plan.steps.slice(0, 20).map((step) => step.id).join(', ')}`);
  }
  return stepsToRetry(shape, plan.steps, stateOf, from);
}

function toRun(loaded: Loaded, reset: readonly string[] | undefined): StepSpec[] {
  const resets = new Set(reset);
  return loaded.plan.steps.filter((step) => resets.has(step.id) || !isTerminal(loaded.stateOf(step.id)));
}

function requireSecrets(host: Host, plan: Plan, steps: readonly StepSpec[]): void {
  const used = new Set([...(steps.length > 0 ? planEnvSecrets(plan) : []), ...steps.flatMap((step) => step.secrets)]);
  const missing = [...used].filter((name) => (host.secret(name) ?? '') === '');
  if (missing.length === 0) return;
  const users = steps.filter((step) => step.secrets.some((name) => missing.includes(name))).map((step) => step.id);
  throw new UsageError(
    'missing_secrets',
    `${missing.length === 1 ? 'the secret' : 'the secrets'} ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set` +
      `${users.length > 0 ? ` (needed by ${users.slice(0, 5).join(', ')}${users.length > 5 ? ', …' : ''})` : ''}; set the environment ${missing.length === 1 ? 'variable' : 'variables'} of that name. Nothing was started`,
  );
}

function opened(host: Host, loaded: Loaded, lease: Lease, options: TakeOptions): OpenSession {
  const { stored, plan, shape, steps, stateOf } = loaded;
  const changes: Change[] = [];
  const now = host.clock.now();
  const reset = again(loaded, options);
  if (reset !== undefined) {
    const deadline = plan.timeout === undefined ? undefined : now + plan.timeout;
    changes.push(sessionRetried(stored.state, deadline, { steps: reset.slice(0, 1000), count: reset.length, actor: options.actor ?? 'resume' }));
    changes.push(...resetSteps(shape, reset, stateOf));
  } else {
    changes.push({ type: 'session_resumed', session: { status: 'running' }, });
    changes.push(...interruptedSteps(steps, 'its driver is gone'));
  }
  if (options.addAttempts !== undefined) changes.push(raisedBudget(stored, options.addAttempts));
  const states = new Map(steps);
  for (const change of changes) if (change.step_id !== undefined && change.step !== undefined) states.set(change.step_id, change.step);
  const dead = options.mode === 'cancel' ? undefined : deadLetter(plan.steps, (id) => states.get(id) ?? PENDING);
  return {
    plan,
    shape,
    start: stored.start,
    lease,
    session: stored.state,
    steps,
    // The lease event of this drive is the first that a reader of this drive sees.
    seenSeq: Math.max(0, stored.last_seq - 1),
    changes,
    reason: reset === undefined ? 'session_resume' : 'retry',
    ...(dead === undefined ? {} : { deadLetter: dead }),
  };
}

function raisedBudget(stored: StoredSession, attempts: number): Change {
  const limit = stored.state.attempts_limit;
  if (limit === undefined) {
    throw new UsageError('no_budget', `session ${stored.start.session_id} has no budget of attempts: its plan declares no budget.attempts`);
  }
  return { type: 'budget_raised', session: { attempts_limit: limit + attempts }, data: { attempts, from: limit } };
}
