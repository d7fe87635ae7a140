// Getting hold of a session: a new one, or one that another process left. After this its driver may begin.
import type { FunctionTable } from '../actions/action.js';
import type { ActionRegistry } from '../actions/registry.js';
import type { Clock } from '../core/clock.js';
import { SessionHeldError, UsageError } from '../core/error.js';
import type { Change } from '../core/event.js';
import { isSessionId } from '../core/id.js';
import type { JsonObject } from '../core/json.js';
import type { SessionStart, SessionState } from '../core/session-state.js';
import { isTerminal, PENDING, type StepState } from '../core/step-state.js';
import { shapeOf, type PlanShape } from '../graph/plan-shape.js';
import { bindParams } from '../plan/bind-params.js';
import type { LoadedPlan } from '../plan/load.js';
import { planJson, storedForm } from '../plan/plan-json.js';
import type { Plan, StepSpec } from '../plan/plan.js';
import { judgeHolder } from '../process/identity.js';
import { endOrphans } from '../process/orphans.js';
import { removeScratchOf } from '../process/scratch.js';
import type { Lease, LeaseHolder, Store, StoredSession } from '../store/store.js';
import { logDirOf, makeLogDir } from './log-dir.js';
import { endHolder, giveUp, newHolder } from './drive-holder.js';
import { LEASE_MS, refuseIfHeld, takeSession } from './lease-keeper.js';
import { listCall, nextCall, runCall } from './next-call.js';
import { deadLetter, interruptedSteps, resetSteps, sessionRetried, stepsToRetry } from './resume-plan.js';
import { requireFunctions } from './require-functions.js';
import { refuseSecretsAtStart, secretsInParams, secretsOf, maskerOf } from './secrets-at-start.js';
import { planEnvSecrets } from './step-inputs.js';
import { storedPlan } from './stored-plan.js';

/** Between TERM and KILL for processes that no step waits for, ms. */
export const ORPHAN_GRACE_MS = 2000;

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

/**
 * Creates a session. UsageError: `bad_session_id`, `session_exists`, `invalid_params`, `unknown_function`, `missing_secrets`,
 * `secret_in_param`, `secret_in_session`.
 */
export async function createSession(host: Host, loaded: LoadedPlan, sessionId: string, params: JsonObject): Promise<OpenSession> {
  const plan = storedForm(loaded.plan);
  const now = host.clock.now();
  if (!isSessionId(sessionId)) {
    throw new UsageError('bad_session_id', `"${sessionId}" cannot name a session: use letters, digits, "_" and "-", at most 100, and no device name such as "con"`);
  }
  const secrets = secretsOf(plan, host.secret);
  const inParams = secretsInParams(secrets, params);
  if (inParams.length > 0) throw new UsageError('secret_in_param', `${inParams.map(({ message, hint }) => `${message}; ${hint}`).join('; ')}. Nothing was started`);
  const bound = bindParams(plan, params, {});
  if (!bound.ok) throw new UsageError('invalid_params', bound.problems.map((problem) => problem.message).join('; '));
  requireFunctions(host, plan.steps);
  requireSecrets(host, plan, plan.steps);
  const hostEnv = Object.fromEntries(plan.host_env.map((name) => [name, host.env[name] ?? null]));
  refuseSecretsAtStart(secrets, loaded, sessionId, hostEnv);
  const start: SessionStart = {
    session_id: sessionId,
    plan_hash: plan.plan_hash,
    plan_name: plan.name,
    created_at: now,
    params: bound.params,
    host_env: hostEnv,
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
  await makeLogDir(host.store, sessionId);
  const holder = newHolder();
  const created = host.store.createSession({
    start,
    plan_json: planJson(loaded.plan),
    plan_source: loaded.source,
    state: session,
    holder,
    lease_expires_at: now + LEASE_MS,
    at: now,
    data: { plan_name: plan.name, plan_hash: plan.plan_hash, plan_file: loaded.file, params: bound.params },
  });
  const lease = await endingWith(holder, created);
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
  refuseIfEnded(host.store, before.stored, options.mode);
  refuseIfHeld(host.store, before.stored.lease, host.clock.now());
  // Everything that a user can get wrong is said before the session is touched.
  const wanted = again(before, options);
  if (options.mode !== 'cancel') {
    requireFunctions(host, toRun(before, wanted));
    requireSecrets(host, before.plan, toRun(before, wanted));
  }

  await makeLogDir(host.store, sessionId);
  const holder = newHolder();
  const lease = await endingWith(holder, takeSession(host.store, sessionId, before.stored.lease, holder, host.clock.now()));
  try {
    const now = await loadSession(host, sessionId, before);
    if (now.stored.state.status === 'completed' && options.mode !== 'retry') {
      await giveUp(host.store, lease);
      return now.stored;
    }
    refuseIfEnded(host.store, now.stored, options.mode);
    await endEarlierProcesses(host.store, lease, before.stored.lease);
    return opened(host, now, lease, options);
  } catch (error) {
    await giveUp(host.store, lease);
    throw error;
  }
}

// Nothing runs beside an orphan: a session whose old processes cannot be ended is not driven.
async function endEarlierProcesses(store: Store, lease: Lease, before: Lease | undefined): Promise<void> {
  const { session_id: id, epoch } = lease;
  const { left } = await endOrphans({ store, session_id: id, epoch }, { graceMs: ORPHAN_GRACE_MS, logDir: logDirOf(store, id) });
  if (left.length === 0) {
    if (before !== undefined && judgeHolder(before.holder) === 'dead') removeScratchOf(before.holder);
    return;
  }
  const which = left.length === 1 ? `process ${left[0]}` : `processes ${left.slice(0, 20).join(', ')}`;
  throw new SessionHeldError(id, `session ${id}: ${which} of its earlier driver could not be ended (another user's, or stuck in the system), and nothing may run beside them; end them, then go on with: plan resume ${id}`, { processes: left });
}

// A holder that gets no lease drives nothing.
async function endingWith(holder: LeaseHolder, work: Promise<Lease>): Promise<Lease> {
  try {
    return await work;
  } catch (error) {
    endHolder(holder);
    throw error;
  }
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
    throw new UsageError('unknown_session', `there is no session "${sessionId}" in ${host.store.location}; to see the sessions there: ${listCall(host.store)}`);
  }
  const plan = known?.plan ?? storedPlan(host.store, stored);
  const steps = new Map([...(await host.store.loadSteps(sessionId))].map(([id, update]) => [id, update.state]));
  return { stored, plan, shape: known?.shape ?? shapeOf(plan), steps, stateOf: (id) => steps.get(id) ?? PENDING };
}

function refuseIfEnded(store: Store, stored: StoredSession, mode: TakeOptions['mode']): void {
  const { status } = stored.state;
  const id = stored.start.session_id;
  const ended = status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'expired' || status === 'dead_letter';
  if (mode === 'retry') {
    if (status === 'completed') throw new UsageError('session_ended', `session ${id} completed, and a completed session is final: there is nothing to retry; to run the plan again in a new session: ${runCall(store, stored.start.plan_file)}`);
    if (!ended) throw new UsageError('session_open', `session ${id} is ${status}: it has not ended, so there is nothing to retry; to go on: ${nextCall(store, 'resume', id)}`);
    return;
  }
  if (status === 'failed' && mode === 'resume') return;
  if (ended && status !== 'completed') {
    throw new UsageError('session_ended', `session ${id} is ${status}; to run its unfinished steps again: ${nextCall(store, 'retry', id)}`);
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
    changes.push(sessionRetried(stored.state, deadline, { steps: reset.slice(0, 1000), count: reset.length, actor: maskerOf(plan, host.secret).text(options.actor ?? 'resume') }));
    changes.push(...resetSteps(shape, reset, stateOf));
  } else {
    changes.push({ type: 'session_resumed', session: { status: 'running' }, });
    changes.push(...interruptedSteps(steps, 'its driver is gone'));
  }
  if (options.addAttempts !== undefined) changes.push(raisedBudget(stored, options.addAttempts));
  const states = new Map(steps);
  for (const change of changes) if (change.step_id !== undefined && change.step !== undefined) states.set(change.step_id, change.step);
  const dead = options.mode === 'cancel' || stored.cancel !== undefined ? undefined : deadLetter(plan.steps, (id) => states.get(id) ?? PENDING);
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
