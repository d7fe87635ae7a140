// How a stored change of a session's state is applied; every store and the audit do it alike.
import type { Change } from '../core/event.js';
import type { SessionState } from '../core/session-state.js';

/** A state with some members replaced; null removes one. */
export function applySessionPatch(state: SessionState, patch: NonNullable<Change['session']>): SessionState {
  const next: Record<string, unknown> = { ...state };
  for (const [member, value] of Object.entries(patch)) {
    if (value === null) delete next[member];
    else if (value !== undefined) next[member] = value;
  }
  return next as unknown as SessionState;
}
