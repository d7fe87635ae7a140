// What a process that takes a session over does to its states before it goes on. Pure: states in, changes out.
import type { Change } from '../core/event.js';
import type { SessionState } from '../core/session-state.js';
import type { StepState } from '../core/step-state.js';
import { withDescendants, type PlanShape } from '../graph/plan-shape.js';
import type { StepSpec } from '../plan/plan.js';
import { stepInterrupted, stepReset, type StepChange } from './step-change.js';

type StateOf = (id: string) => StepState;

/** Steps found running: their driver is gone, so their attempt was interrupted. The charge was made when they began. */
export function interruptedSteps(states: Iterable<[string, StepState]>, why: string): StepChange[] {
  const changes: StepChange[] = [];
  for (const [id, state] of states) if (state.status === 'running') changes.push(stepInterrupted(id, state, { why, attempt: state.attempt }));
  return changes;
}

/** The first step that was interrupted as often as its policy allows; the session is a dead letter then. */
export function deadLetter(steps: readonly StepSpec[], stateOf: StateOf): StepSpec | undefined {
  return steps.find((step) => {
    const state = stateOf(step.id);
    return state.status === 'pending' && state.interruptions >= step.retry.max_interruptions;
  });
}

/**
 * Steps that a retry runs again: those that failed untolerated, were cancelled, or never ran because of that, the
 * steps named by `from`, the ones that were interrupted too often, and all their descendants. `finally` steps ran for
 * an ending that is now undone, so they run again too.
 */
export function stepsToRetry(shape: PlanShape, steps: readonly StepSpec[], stateOf: StateOf, from: readonly string[]): string[] {
  const roots = steps.filter((step) => !step.finally && needsRetry(step, stateOf(step.id))).map((step) => step.id);
  const again = withDescendants(shape, [...roots, ...from]);
  return steps.filter((step) => (again.has(step.id) || step.finally) && touched(stateOf(step.id))).map((step) => step.id);
}

function needsRetry(step: StepSpec, state: StepState): boolean {
  switch (state.status) {
    case 'failed':
      return !state.tolerated;
    case 'cancelled':
      return true;
    case 'skipped':
      return state.reason.kind === 'upstream_failed' || state.reason.kind === 'stopped';
    case 'pending':
      return state.interruptions >= step.retry.max_interruptions;
    default:
      return false;
  }
}

function touched(state: StepState): boolean {
  return state.status !== 'pending' || state.attempt > 0;
}

/**
 * The steps of a retry in a new generation. The verdict of `if` is kept where nothing that it reads can have changed;
 * it is decided anew behind a step that runs again, and in `finally`, where it may read how the steps ended.
 */
export function resetSteps(shape: PlanShape, ids: readonly string[], stateOf: StateOf): StepChange[] {
  const again = new Set(ids);
  return ids.map((id) => {
    const step = shape.byId.get(id);
    const keepVerdict = step !== undefined && !step.finally && !step.needs.some((need) => again.has(need));
    return stepReset(id, stateOf(id), keepVerdict);
  });
}

/** The session's own change when an ended one starts again: a new generation, a new deadline, nothing decided. */
export function sessionRetried(session: SessionState, deadlineAt: number | undefined, data: NonNullable<Change['data']>): Change {
  return {
    type: 'session_retried',
    session: {
      status: 'running',
      generation: session.generation + 1,
      ending: null,
      ended_at: null,
      error: null,
      outputs: null,
      deadline_at: deadlineAt ?? null,
    },
    data,
  };
}
