// Cancelling a session, whoever drives it. What is promised is looked at: a driver may leave between the request and
// its answer, and then this process ends the session itself.
import { SessionHeldError, StoreError, UsageError } from '../core/error.js';
import { isTerminalSession, type CancelRequest } from '../core/session-state.js';
import { isTerminal, PENDING } from '../core/step-state.js';
import type { StoredSession } from '../store/store.js';
import { isHeld } from './lease-keeper.js';
import { listCall } from './next-call.js';
import type { Host } from './open-session.js';
import type { CancelResult, SessionResult } from './session-handle.js';
import { maskerOf } from './secrets-at-start.js';
import { storedPlan } from './stored-plan.js';

/** How long a living driver is waited for, ms; it looks for a cancel five times a second. */
const ANSWER_MS = 2000;
const LOOK_MS = 50;

/**
 * Stores a cancel and waits for its effect.
 * @param takeOver drives the session to its end here
 */
export async function cancelSession(host: Host, sessionId: string, request: CancelRequest, takeOver: () => Promise<SessionResult>): Promise<CancelResult> {
  const { store } = host;
  const stored = await sessionOf(host, sessionId);
  if (isTerminalSession(stored.state.status)) {
    throw new UsageError('session_ended', `session ${sessionId} is ${stored.state.status}: there is nothing to cancel`);
  }
  const endsFinally = await runsFinally(host, stored);
  const masker = maskerOf(storedPlan(store, stored), host.secret);
  await store.requestCancel(sessionId, { ...request, actor: masker.text(request.actor), reason: masker.text(request.reason) }, endsFinally);
  const again = endsFinally ? { ends_finally: true } : {};
  try {
    return { ...(await effectOf(host, sessionId, endsFinally, takeOver)), ...again };
  } catch (error) {
    // The request is stored; a host that closes its store meanwhile only learns less about it.
    if (error instanceof StoreError && error.fault === 'closed') return { outcome: 'requested', status: stored.state.status, answered: false, ...again };
    throw error;
  }
}

async function effectOf(host: Host, sessionId: string, endsFinally: boolean, takeOver: () => Promise<SessionResult>): Promise<CancelResult> {
  const { clock } = host;
  for (const giveUpAt = clock.elapsed() + ANSWER_MS; ; await clock.sleep(LOOK_MS)) {
    const { state, lease } = await sessionOf(host, sessionId);
    if (isTerminalSession(state.status)) return { outcome: 'ended', status: state.status };
    if (lease === undefined || !isHeld(lease, clock.now())) {
      const status = await endHere(takeOver);
      if (status !== undefined) return { outcome: 'ended', status };
      continue;
    }
    const answered = state.ending === 'cancelled';
    if ((answered && !endsFinally) || clock.elapsed() >= giveUpAt) return { outcome: 'requested', status: state.status, answered };
  }
}

// Undefined when another process took or ended the session first.
async function endHere(takeOver: () => Promise<SessionResult>): Promise<SessionResult['status'] | undefined> {
  try {
    return (await takeOver()).status;
  } catch (error) {
    if (error instanceof SessionHeldError || (error instanceof UsageError && error.code === 'session_ended')) return undefined;
    throw error;
  }
}

// Whether the session is being cancelled, and nothing but its `finally` steps is left.
async function runsFinally({ store }: Host, stored: StoredSession): Promise<boolean> {
  const { start, state, cancel } = stored;
  if (cancel === undefined || state.ending !== 'cancelled') return false;
  const steps = await store.loadSteps(start.session_id);
  return storedPlan(store, stored).steps.every((step) => step.finally || isTerminal(steps.get(step.id)?.state ?? PENDING));
}

async function sessionOf({ store }: Host, sessionId: string): Promise<StoredSession> {
  const stored = await store.getSession(sessionId);
  if (stored === undefined) throw new UsageError('unknown_session', `there is no session "${sessionId}" in ${store.location}; to see the sessions there: ${listCall(store)}`);
  return stored;
}
