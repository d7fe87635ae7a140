// The registry of step kinds: explicit, made once by whoever builds the executor; nothing registers itself.
import type { StepAction, StepKind } from '../plan/plan.js';
import type { Action, AnyAction } from './action.js';

export interface ActionRegistry {
  get(kind: StepKind): Action;
  kinds(): StepKind[];
}

/** A registry over some actions; a later one of the same kind replaces an earlier (so a host can fake one). */
export function createRegistry(actions: readonly AnyAction[]): ActionRegistry {
  const byKind = new Map<string, Action>();
  for (const action of actions) byKind.set(action.kind, action as unknown as Action<StepAction>);
  return {
    get(kind) {
      const action = byKind.get(kind);
      if (action === undefined) throw new Error(`no action is registered for the step kind "${kind}"; registered: ${[...byKind.keys()].join(', ')}`);
      return action;
    },
    kinds: () => [...byKind.keys()] as StepKind[],
  };
}
