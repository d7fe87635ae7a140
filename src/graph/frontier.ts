// What may start next, as one pure function of the plan shape and the states. `FrontierIndex`
// (frontier-index.ts) gives the same answers without looking at the whole plan each time; a property test holds them together.
import { isTerminal, type SkipReason, type StepState } from '../core/step-state.js';
import { endingOf, gateOf, type Gate } from './gate.js';
import type { PlanShape, ShapedStep } from './plan-shape.js';

export type Phase = 'main' | 'finally' | 'ended';

export interface FrontierAnswer {
  phase: Phase;
  /** Pending steps whose gate is open, in file order; `if` is not looked at yet. */
  start: string[];
  /** Pending steps that cannot run any more, with the reason. Apply them and ask again: they may decide others. */
  skip: Array<{ id: string; reason: SkipReason }>;
}

export type StateOf = (id: string) => StepState;

/** The failed step after which nothing unrelated starts; undefined while the session has not stopped. */
export function stoppedBy(shape: PlanShape, stateOf: StateOf): string | undefined {
  if (shape.on_failure === 'continue') return undefined;
  return shape.steps.find((step) => !step.finally && isFatal(stateOf(step.id)))?.id;
}

export function isFatal(state: StepState): boolean {
  return state.status === 'failed' && !state.tolerated;
}

/** The rule, over the whole plan. */
export function frontierOf(shape: PlanShape, stateOf: StateOf): FrontierAnswer {
  const phase = phaseOf(shape, stateOf);
  const answer: FrontierAnswer = { phase, start: [], skip: [] };
  if (phase === 'ended') return answer;
  const stopped = phase === 'main' ? stoppedBy(shape, stateOf) : undefined;
  const barrier = shape.scheduling === 'layered' ? openLayer(shape, phase, stateOf) : Infinity;
  for (const step of shape.steps) {
    if (step.finally !== (phase === 'finally') || stateOf(step.id).status !== 'pending') continue;
    place(step, gateFor(step, stateOf, stopped), shape, barrier, answer);
  }
  return answer;
}

function phaseOf(shape: PlanShape, stateOf: StateOf): Phase {
  if (shape.steps.some((step) => !step.finally && !isTerminal(stateOf(step.id)))) return 'main';
  return shape.steps.some((step) => step.finally && !isTerminal(stateOf(step.id))) ? 'finally' : 'ended';
}

/** The lowest layer of a phase with a step that has not ended. */
function openLayer(shape: PlanShape, phase: 'main' | 'finally', stateOf: StateOf): number {
  const layer = shape.layers[phase].findIndex((ids) => ids.some((id) => !isTerminal(stateOf(id))));
  return layer === -1 ? Infinity : layer;
}

export function gateFor(step: ShapedStep, stateOf: StateOf, stopped: string | undefined): Gate {
  return gateOf(step.after, step.needs.map((need) => endingOf(need, stateOf(need))), stopped);
}

// A skip needs no barrier: it starts nothing. A start waits for its layer.
function place(step: ShapedStep, gate: Gate, shape: PlanShape, barrier: number, answer: FrontierAnswer): void {
  if (gate.gate === 'skip') answer.skip.push({ id: step.id, reason: gate.reason });
  else if (gate.gate === 'open' && (shape.layerOf.get(step.id) as number) <= barrier) answer.start.push(step.id);
}
