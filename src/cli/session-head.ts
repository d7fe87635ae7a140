// A session in short: what `list` shows of each, and `show` begins with.
import type { ErrorRecord } from '../core/error.js';
import { isTerminalSession, type CancelRequest, type SessionStatus } from '../core/session-state.js';
import { isHeld } from '../executor/lease-keeper.js';
import { lifeOf } from '../executor/drive-holder.js';
import type { HolderVerdict } from '../process/identity.js';
import type { SessionSummary } from '../store/store.js';

export interface SessionHead {
  session_id: string;
  plan_name: string;
  plan_file: string;
  plan_hash: string;
  /** As stored. */
  status: SessionStatus;
  /** True when it has not ended and nobody drives it although something was running: `plan resume` goes on. */
  interrupted: boolean;
  generation: number;
  created_at: number;
  updated_at: number;
  ended_at?: number;
  deadline_at?: number;
  attempts_used: number;
  attempts_limit?: number;
  /** Who drives it, or drove it and did not give it back. */
  owner?: { host: string; pid: number; state: HolderVerdict; epoch: number; expires_at: number };
  cancel?: CancelRequest;
  error?: ErrorRecord;
}

/** Whether a process drives the session now. */
export function isDriven({ lease }: Pick<SessionSummary, 'lease'>, now: number): boolean {
  return lease !== undefined && isHeld(lease, now);
}

export function headOf({ start, state, updated_at, lease, cancel }: SessionSummary, now: number): SessionHead {
  const open = !isTerminalSession(state.status);
  const worked = state.status === 'running' || state.status === 'ready' || lease !== undefined;
  return {
    session_id: start.session_id,
    plan_name: start.plan_name,
    plan_file: start.plan_file,
    plan_hash: start.plan_hash,
    status: state.status,
    interrupted: open && !isDriven(lease === undefined ? {} : { lease }, now) && worked,
    generation: state.generation,
    created_at: start.created_at,
    updated_at,
    ...(state.ended_at === undefined ? {} : { ended_at: state.ended_at }),
    ...(state.deadline_at === undefined ? {} : { deadline_at: state.deadline_at }),
    attempts_used: state.attempts_used,
    ...(state.attempts_limit === undefined ? {} : { attempts_limit: state.attempts_limit }),
    ...(lease === undefined
      ? {}
      : { owner: { host: lease.holder.host, pid: lease.holder.pid, state: lifeOf(lease.holder), epoch: lease.epoch, expires_at: lease.expires_at } }),
    ...(cancel === undefined ? {} : { cancel }),
    ...(state.error === undefined ? {} : { error: state.error }),
  };
}

/** The status for people: `interrupted` where that is so. */
export function shownStatus(head: SessionHead): SessionStatus | 'interrupted' {
  return head.interrupted ? 'interrupted' : head.status;
}
