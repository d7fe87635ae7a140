// Puts the parts of one drive together: record, driver, lease keeper; and takes them apart again in every ending.
import { mkdir } from 'node:fs/promises';
import type { JsonObject } from '../core/json.js';
import { PENDING, STEP_STATUSES } from '../core/step-state.js';
import { parsePlanJson } from '../plan/plan-json.js';
import { createMasker } from '../process/masker.js';
import { endOrphans } from '../process/orphans.js';
import type { StoredSession } from '../store/store.js';
import type { Drive } from './drive.js';
import { LeaseKeeper } from './lease-keeper.js';
import { resultOf } from './leave-session.js';
import { logDirOf, type Host, type OpenSession } from './open-session.js';
import { processTagPrefix, type SendingSession } from './send-attempt.js';
import { SessionDriver } from './session-driver.js';
import type { DriveOptions, SessionResult } from './session-handle.js';
import { SessionRecord } from './session-record.js';
import { readStored, type InputSource } from './step-inputs.js';

/** What drives of one executor share. */
export interface DriveHost extends Host {
  random: () => number;
}

export async function driveSession(host: DriveHost, open: OpenSession, options: DriveOptions, drive: Drive): Promise<SessionResult> {
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
  const logDir = logDirOf(store, sessionId);
  const tagPrefix = processTagPrefix(store, sessionId);
  const sending: SendingSession = {
    source,
    registry: host.registry,
    functions: host.functions,
    clock,
    masker: createMasker(plan.secrets.flatMap((name) => host.secret(name) ?? [])),
    hostEnv: host.env,
    epoch: lease.epoch,
    hurry: hurry.signal,
    logDir,
    tagPrefix,
    onOutput: options.onOutput,
  };
  try {
    if (open.reason !== undefined) await record.write(open.reason, open.changes, { clearCancel: open.reason === 'retry' });
    if (open.deadLetter !== undefined) return await endAsDeadLetter(record, open.deadLetter, start.created_at);
    if (logDir !== undefined) await mkdir(logDir, { recursive: true, mode: 0o700 });
    const keeper = new LeaseKeeper({
      store,
      clock,
      lease,
      onLost: (error) => driver.fail(error),
      onCancel: (request) => driver.cancel(request),
    });
    const driver: SessionDriver = new SessionDriver({
      plan,
      shape: open.shape,
      record,
      run: { record, sending, random: host.random, lookForCancel: () => keeper.look() },
      clock,
      maxWaitMs: options.maxWaitMs,
      hurry,
      endProcesses: async () => void (await endOrphans(tagPrefix, 2000, logDir)),
    });
    drive.attach(driver, open.seenSeq);
    await keeper.look();
    keeper.start();
    try {
      return await driver.drive();
    } finally {
      await keeper.stop();
    }
  } finally {
    // A lease that is not ours any more stays as it is; a store that fails here lets it expire.
    await store.releaseLease(lease).catch(() => undefined);
  }
}

async function endAsDeadLetter(record: SessionRecord, step: { id: string }, createdAt: number): Promise<SessionResult> {
  const state = record.state(step.id);
  const message = `step ${step.id} was interrupted ${state.interruptions} times (attempt ${state.attempt}), which is as often as its max_interruptions allows; find out what kills it before you retry`;
  await record.write(
    'session_end',
    [
      {
        type: 'session_dead_letter',
        session: { status: 'dead_letter', error: { class: 'interrupted', code: 'dead_letter', message, step_id: step.id } },
        data: { step: step.id, interruptions: state.interruptions, attempt: state.attempt },
      },
    ],
    { snapshot: true },
  );
  return resultOf(record, { interrupted: false }, createdAt);
}

/** The result of a session that has nothing left to drive. */
export async function resultOfStored(stored: StoredSession, host: Host): Promise<SessionResult> {
  const { state, start } = stored;
  const plan = parsePlanJson(stored.plan_json);
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

