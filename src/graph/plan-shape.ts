// The shape of a plan: who needs whom, in which layer. Made once per session; the frontier reads nothing else.
import type { AfterGate } from './gate.js';
import { buildGraph, layersOf } from './graph.js';

/** What the shape needs to know of a step; `StepSpec` has it all. */
export interface ShapedStep {
  id: string;
  finally: boolean;
  needs: readonly string[];
  after: AfterGate;
}

export interface PlanShape {
  scheduling: 'layered' | 'eager';
  on_failure: 'stop' | 'continue';
  /** In file order; main steps before `finally` steps. */
  steps: readonly ShapedStep[];
  byId: ReadonlyMap<string, ShapedStep>;
  dependents: ReadonlyMap<string, readonly string[]>;
  /** Topological level within its phase, from 0. */
  layerOf: ReadonlyMap<string, number>;
  /** Steps of each layer of the main phase, and of the `finally` phase. */
  layers: { main: string[][]; finally: string[][] };
}

// A frozen plan keeps its shape; one plan is often run many times.
const shapes = new WeakMap<object, PlanShape>();

export function shapeOf(plan: { scheduling: 'layered' | 'eager'; on_failure: 'stop' | 'continue'; steps: readonly ShapedStep[] }): PlanShape {
  const known = shapes.get(plan);
  if (known !== undefined) return known;
  const shape = makeShape(plan);
  if (Object.isFrozen(plan)) shapes.set(plan, shape);
  return shape;
}

function makeShape(plan: Parameters<typeof shapeOf>[0]): PlanShape {
  const byId = new Map(plan.steps.map((step) => [step.id, step]));
  const dependents = new Map<string, string[]>(plan.steps.map((step) => [step.id, []]));
  for (const step of plan.steps) for (const need of step.needs) dependents.get(need)?.push(step.id);
  const main = phaseLayers(plan.steps.filter((step) => !step.finally));
  const last = phaseLayers(plan.steps.filter((step) => step.finally));
  return {
    scheduling: plan.scheduling,
    on_failure: plan.on_failure,
    steps: plan.steps,
    byId,
    dependents,
    layerOf: new Map([...main.levels, ...last.levels]),
    layers: { main: main.layers, finally: last.layers },
  };
}

function phaseLayers(steps: readonly ShapedStep[]): { levels: Map<string, number>; layers: string[][] } {
  return layersOf(buildGraph(steps));
}

/** Whether a step lies in a layer before this one, or in a phase before this one. */
export function liesBefore(shape: PlanShape, id: string, phase: 'main' | 'finally' | 'ended', layer: number): boolean {
  const isFinally = shape.byId.get(id)?.finally === true;
  if (phase === 'ended' || isFinally !== (phase === 'finally')) return true;
  return (shape.layerOf.get(id) as number) < layer;
}

/** Ids of all steps that depend on some of `ids`, directly or not, those included. Iterative. */
export function withDescendants(shape: PlanShape, ids: Iterable<string>): Set<string> {
  const found = new Set<string>();
  const stack = [...ids];
  while (stack.length > 0) {
    const id = stack.pop() as string;
    if (found.has(id)) continue;
    found.add(id);
    for (const dependent of shape.dependents.get(id) ?? []) stack.push(dependent);
  }
  return found;
}
