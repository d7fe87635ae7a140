// Load = merge: the state of a session is the fold of a snapshot and updates. Per step the merge is a join
// (commutative, associative, idempotent), so order, duplication and cuts of the updates cannot change the result.
import { isTerminal, type StepState } from './step-state.js';

/** One stored state of one step; `seq` is the number of the event that explains it. */
export interface StepUpdate {
  step_id: string;
  seq: number;
  epoch: number;
  state: StepState;
}

/**
 * Whether `next` replaces `current`. Higher generation wins; within a generation a terminal state is never replaced
 * by one that is not; within that, the higher seq. Time never decides.
 */
export function supersedes(next: StepUpdate, current: StepUpdate): boolean {
  if (next.state.generation !== current.state.generation) return next.state.generation > current.state.generation;
  const nextEnded = isTerminal(next.state);
  if (nextEnded !== isTerminal(current.state)) return nextEnded;
  return next.seq > current.seq;
}

/** Folds updates into a map from step id to its update (changed in place and returned). */
export function foldUpdates(into: Map<string, StepUpdate>, updates: Iterable<StepUpdate>): Map<string, StepUpdate> {
  for (const update of updates) {
    const current = into.get(update.step_id);
    if (current === undefined || supersedes(update, current)) into.set(update.step_id, update);
  }
  return into;
}
