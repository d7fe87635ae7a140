// Puts the parts of one drive together: record, driver, lease keeper; and takes them apart again in every ending.
import { setMaxListeners } from 'node:events';
import { steadyTime } from '../core/clock.js';
import type { Change } from '../core/event.js';
import type { JsonObject } from '../core/json.js';
import { PENDING, STEP_STATUSES } from '../core/step-state.js';
import { endOrphans } from '../process/orphans.js';
import type { DriveMark } from '../process/process-tag.js';
import type { StoredSession } from '../store/store.js';
import type { Drive } from './drive.js';
import { giveUp } from './drive-holder.js';
import { LeaseKeeper } from './lease-keeper.js';
import { resultOf } from './leave-session.js';
import { logDirOf } from './log-dir.js';
import { maskerOf } from './secrets-at-start.js';
import { ORPHAN_GRACE_MS, type Host, type OpenSession } from './open-session.js';
import type { SendingSession } from './send-attempt.js';
import { SessionDriver } from './session-driver.js';
import type { DriveOptions, SessionResult } from './session-handle.js';
import { SessionRecord } from './session-record.js';
import { readStored, type InputSource } from './step-inputs.js';
import { storedPlan } from './stored-plan.js';

/** What drives of one executor share. */
export interface DriveHost extends Host {
  random: () => number;
}

export async function driveSession(host: DriveHost, open: OpenSession, options: DriveOptions, drive: Drive): Promise<SessionResult> {
  try {
    return await driveUnderLease(host, open, options, drive);
  } finally {
    // A lease that is not ours any more stays as it is.
    await giveUp(host.store, open.lease);
  }
}

async function driveUnderLease(host: DriveHost, open: OpenSession, options: DriveOptions, drive: Drive): Promise<SessionResult> {
  const { store, clock } = host;
  const { plan, lease, start } = open;
  const sessionId = start.session_id;
  const record = new SessionRecord({
    sessionId,
    epoch: lease.epoch,
    session: open.session,
    steps: open.steps,
    stepCount: plan.steps.length,
    store,
    clock,
    onCommit: () => drive.notify(),
  });
  const source: InputSource = {
    plan,
    start,
    stateOf: (id) => record.state(id),
    getBlob: (digest) => record.blob(digest),
    secret: host.secret,
    ending: () => record.session.ending,
  };
  const hurry = new AbortController();
  // Every running attempt listens to it.
  setMaxListeners(0, hurry.signal);
  const logDir = logDirOf(store, sessionId);
  const mark: DriveMark = { store, session_id: sessionId, epoch: lease.epoch };
  const masker = maskerOf(plan, host.secret);
  const sending: SendingSession = {
    source,
    registry: host.registry,
    functions: host.functions,
    clock,
    now: steadyTime(clock),
    masker,
    hostEnv: host.env,
    mark,
    hurry: hurry.signal,
    logDir,
    onOutput: options.onOutput,
  };
  if (open.reason !== undefined) await record.write(open.reason, open.changes, { clearCancel: open.reason === 'retry' });
  const dead = open.deadLetter === undefined ? undefined : await endAsDeadLetter(record, open.deadLetter, start.created_at);
  if (dead !== undefined) return dead;
  const keeper = new LeaseKeeper({
    store,
    clock,
    lease,
    onLost: (error) => driver.fail(error),
    onCancel: (request) => driver.cancel({ ...request, actor: masker.text(request.actor), reason: masker.text(request.reason) }),
  });
  const driver: SessionDriver = new SessionDriver({
    plan,
    shape: open.shape,
    record,
    run: { record, sending, random: host.random, lookForCancel: () => keeper.look() },
    clock,
    maxWaitMs: options.maxWaitMs,
    hurry,
    endProcesses: async () => void (await endOrphans(mark, { graceMs: ORPHAN_GRACE_MS, hurry: hurry.signal, logDir })),
  });
  drive.attach(driver, open.seenSeq);
  await keeper.look();
  keeper.start();
  try {
    return await driver.drive();
  } finally {
    await keeper.stop();
  }
}

async function endAsDeadLetter(record: SessionRecord, step: { id: string }, createdAt: number): Promise<SessionResult | undefined> {
  const state = record.state(step.id);
  const message = `step ${step.id} was interrupted ${state.interruptions} times (attempt ${state.attempt}), which is as often as its max_interruptions allows; find out what kills it before you retry`;
  const change: Change = {
    type: 'session_dead_letter',
    session: { status: 'dead_letter', error: { class: 'interrupted', code: 'dead_letter', message, step_id: step.id } },
    data: { step: step.id, interruptions: state.interruptions, attempt: state.attempt },
  };
  // A cancel that was stored first wins; the driver then obeys it.
  if (!(await record.end('session_end', change, { snapshot: true }))) return undefined;
  return resultOf(record, { interrupted: false }, createdAt);
}

/** The result of a session that has nothing left to drive. */
export async function resultOfStored(stored: StoredSession, host: Host): Promise<SessionResult> {
  const { state, start } = stored;
  const plan = storedPlan(host.store, stored);
  const steps = await host.store.loadSteps(start.session_id);
  const counts = Object.fromEntries(STEP_STATUSES.map((status) => [status, 0])) as SessionResult['counts'];
  for (const { id } of plan.steps) counts[(steps.get(id)?.state ?? PENDING).status] += 1;
  const outputs = state.outputs === undefined ? undefined : ((await readStored(state.outputs, (digest) => host.store.getBlob(digest))) as JsonObject);
  return {
    session_id: start.session_id,
    status: state.status,
    interrupted: false,
    counts,
    created_at: start.created_at,
    ...(outputs === undefined ? {} : { outputs }),
    ...(state.error === undefined ? {} : { error: state.error }),
    ...(state.ended_at === undefined ? {} : { ended_at: state.ended_at }),
  };
}

