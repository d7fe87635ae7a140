// The ways a driver leaves a session: at its end, or at a stop from which it can go on. Each is one commit.
import { asActionError } from '../actions/as-action-error.js';
import { ActionError, type ErrorRecord } from '../core/error.js';
import type { Change, EventType } from '../core/event.js';
import { formatDuration } from '../core/duration.js';
import type { JsonObject } from '../core/json.js';
import type { SessionStatus, TerminalSessionStatus } from '../core/session-state.js';
import type { StoredValue } from '../core/step-state.js';
import { referencesOfValue } from '../expression/references.js';
import { evaluateValue } from '../expression/template.js';
import type { Plan } from '../plan/plan.js';
import { rootCause } from './ending.js';
import type { Masker } from '../process/masker.js';
import { refuseSecrets } from './secret-in-output.js';
import type { SessionRecord } from './session-record.js';
import type { SessionResult } from './session-handle.js';
import { expressionFailure, readSteps, stepScope, type InputSource } from './step-inputs.js';

const ENDING_EVENT: { [status in TerminalSessionStatus]: EventType } = {
  completed: 'session_completed',
  failed: 'session_failed',
  cancelled: 'session_cancelled',
  expired: 'session_expired',
  dead_letter: 'session_dead_letter',
};

/**
 * Every step has ended: decides how the session ended, resolves its outputs, and saves it with a checkpoint. Undefined
 * when a cancel was stored first: then the session ends by that.
 */
export async function endSession(plan: Plan, record: SessionRecord, source: InputSource, masker: Masker, now: number): Promise<SessionResult | undefined> {
  const stateOf = (id: string) => record.state(id);
  const mainCause = rootCause(plan.steps, stateOf, 'main');
  const finallyCause = rootCause(plan.steps, stateOf, 'finally');
  let ending: TerminalSessionStatus = record.session.ending ?? (mainCause === undefined ? 'completed' : 'failed');
  let error = endingError(ending, record, plan, mainCause);
  let outputs: { value: JsonObject; stored: StoredValue } | undefined;
  if (ending === 'completed' && finallyCause !== undefined) [ending, error] = ['failed', finallyCause];
  if (ending === 'completed' && Object.keys(plan.outputs).length > 0) {
    try {
      const value = await planOutputs(plan, source, masker);
      outputs = { value, stored: record.keep(value) };
    } catch (thrown) {
      if (!(thrown instanceof ActionError)) throw thrown;
      [ending, error] = ['failed', asActionError(thrown, masker).record];
    }
  }
  await record.flush('session_end');
  const change: Change = {
    type: ENDING_EVENT[ending],
    session: {
      status: ending,
      ending,
      ended_at: now,
      ...(outputs === undefined ? {} : { outputs: outputs.stored }),
      ...(error === undefined ? {} : { error }),
    },
  };
  // Nobody goes on with a session that completed; its updates tell its state as well.
  if (!(await record.end('session_end', change, { snapshot: ending !== 'completed' }))) return undefined;
  return resultOf(record, { interrupted: false, ...(outputs === undefined ? {} : { outputs: outputs.value }) }, source.start.created_at);
}

function endingError(ending: TerminalSessionStatus, record: SessionRecord, plan: Plan, cause: ErrorRecord | undefined): ErrorRecord | undefined {
  switch (ending) {
    case 'failed':
      return cause;
    case 'cancelled':
      return { class: 'cancelled', code: 'cancelled', message: `session ${record.sessionId} was cancelled` };
    case 'expired':
      return {
        class: 'timeout',
        code: 'session_timeout',
        message: `session ${record.sessionId} did not end within its timeout${plan.timeout === undefined ? '' : ` of ${formatDuration(plan.timeout)}`}`,
      };
    default:
      return undefined;
  }
}

async function planOutputs(plan: Plan, source: InputSource, masker: Masker): Promise<JsonObject> {
  const names = referencesOfValue(plan.outputs).flatMap((r) => (r.root === 'steps' && r.name !== undefined ? [r.name] : []));
  const readings = await readSteps(source, [...new Set(names)]);
  const outputs: JsonObject = {};
  for (const [name, template] of Object.entries(plan.outputs)) {
    try {
      const value = evaluateValue(template, stepScope(source, readings).scope);
      refuseSecrets(masker, value, `outputs.${name}`);
      outputs[name] = value;
    } catch (error) {
      throw error instanceof ActionError ? error : expressionFailure(`outputs.${name}`, error);
    }
  }
  return outputs;
}

/** Leaves the session resumable: its driver was told to stop. */
export async function leaveInterrupted(record: SessionRecord, createdAt: number): Promise<SessionResult> {
  await record.flush('interrupt');
  await record.write('interrupt', [{ type: 'session_interrupted', session: { status: 'ready' } }], { snapshot: true });
  return resultOf(record, { interrupted: true }, createdAt);
}

/** Leaves the session resumable: its budget is spent. Undefined when a cancel was stored first. */
export async function leavePaused(record: SessionRecord, createdAt: number): Promise<SessionResult | undefined> {
  await record.flush('pause');
  const { attempts_used: used, attempts_limit: limit } = record.session;
  const change: Change = { type: 'session_paused', session: { status: 'paused_budget' }, data: { attempts_used: used, attempts_limit: limit ?? null } };
  return (await record.end('pause', change, { snapshot: true })) ? resultOf(record, { interrupted: false }, createdAt) : undefined;
}

/** Saves that nothing runs and what is waited for, once per wait. */
export async function recordWait(record: SessionRecord, stepId: string | undefined, wakeAt: number): Promise<void> {
  const status: SessionStatus = stepId !== undefined && record.state(stepId).status === 'retry_wait' ? 'retry_wait' : 'waiting_timer';
  await record.flush('pause');
  if (record.session.status === status) return;
  await record.write(status === 'retry_wait' ? 'before_retry_wait' : 'timer_wait', [
    { type: 'session_waiting', session: { status }, data: { wake_at: wakeAt, ...(stepId === undefined ? {} : { step: stepId }) } },
  ]);
}

export function resultOf(
  record: SessionRecord,
  extra: { interrupted: boolean; outputs?: JsonObject; wake_at?: number },
  createdAt: number,
): SessionResult {
  const { status, error, ended_at: endedAt } = record.session;
  return {
    session_id: record.sessionId,
    status,
    counts: { ...record.counts },
    created_at: createdAt,
    ...(error === undefined ? {} : { error }),
    ...(endedAt === undefined ? {} : { ended_at: endedAt }),
    ...extra,
  };
}
