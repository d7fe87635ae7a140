// The frontier, incrementally: tell it every state that changed, ask it what may start. Asking costs as much as what
// changed since, not as much as the plan. The rule itself is `frontierOf`.
//
// F1. A step handed out by `ask` is not handed out again unless `changed` says that it is pending.
import { isTerminal } from '../core/step-state.js';
import { gateFor, isFatal, stoppedBy, type FrontierAnswer, type Phase, type StateOf } from './frontier.js';
import { MinHeap } from './min-heap.js';
import type { PlanShape, ShapedStep } from './plan-shape.js';

export class FrontierIndex {
  readonly #shape: PlanShape;
  readonly #stateOf: StateOf;
  /** Place in the file; what is open starts in this order. */
  readonly #position = new Map<string, number>();
  /** Steps whose gate may have changed since the last answer. */
  readonly #dirty = new Set<string>();
  /** Positions of open steps by layer (all in one when scheduling is eager), and the same as a set. */
  readonly #heaps = new Map<number, MinHeap>();
  readonly #open = new Set<string>();
  /** Steps that have not ended: per layer, and per phase. */
  readonly #unended: { main: number[]; finally: number[] };
  readonly #left: { main: number; finally: number };
  readonly #ended = new Set<string>();
  #phase: Phase = 'main';
  #layer = 0;
  #stopped: string | undefined;

  /** @param stateOf the states as they are whenever the index is told or asked */
  constructor(shape: PlanShape, stateOf: StateOf) {
    this.#shape = shape;
    this.#stateOf = stateOf;
    shape.steps.forEach((step, position) => this.#position.set(step.id, position));
    this.#unended = { main: shape.layers.main.map((ids) => ids.length), finally: shape.layers.finally.map((ids) => ids.length) };
    this.#left = { main: 0, finally: 0 };
    for (const step of shape.steps) this.#left[phaseOfStep(step)] += 1;
    for (const step of shape.steps) if (isTerminal(stateOf(step.id))) this.#settle(step);
    this.#stopped = stoppedBy(shape, stateOf);
    this.#markPending();
    this.#advance();
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** The layer that runs now (layered scheduling), from 0. */
  get layer(): number {
    return this.#layer;
  }

  /** The state of a step changed. */
  changed(id: string): void {
    const step = this.#shape.byId.get(id) as ShapedStep;
    const state = this.#stateOf(id);
    if (state.status === 'pending') {
      this.#dirty.add(id);
      return;
    }
    this.#open.delete(id);
    if (!isTerminal(state)) return;
    this.#settle(step);
    for (const dependent of this.#shape.dependents.get(id) ?? []) this.#dirty.add(dependent);
    if (!step.finally && this.#shape.on_failure === 'stop' && isFatal(state)) {
      this.#stopped = stoppedBy(this.#shape, this.#stateOf);
      this.#markPending();
    }
    this.#advance();
  }

  /** What may start now, at most `limit` steps, and what is to be skipped now. The caller acts on all of it. */
  ask(limit = Infinity): FrontierAnswer {
    const answer: FrontierAnswer = { phase: this.#phase, start: [], skip: [] };
    for (const id of this.#dirty) this.#judge(this.#shape.byId.get(id) as ShapedStep, answer);
    this.#dirty.clear();
    const heap = this.#heaps.get(this.#shape.scheduling === 'layered' ? this.#layer : 0);
    while (heap !== undefined && answer.start.length < limit) {
      const position = heap.pop();
      if (position === undefined) break;
      const { id } = this.#shape.steps[position] as ShapedStep;
      if (this.#open.delete(id)) answer.start.push(id);
    }
    return answer;
  }

  #judge(step: ShapedStep, answer: FrontierAnswer): void {
    if (phaseOfStep(step) !== this.#phase || this.#stateOf(step.id).status !== 'pending') return;
    const gate = gateFor(step, this.#stateOf, this.#phase === 'main' ? this.#stopped : undefined);
    if (gate.gate === 'open') {
      if (this.#open.has(step.id)) return;
      this.#open.add(step.id);
      const layer = this.#shape.scheduling === 'layered' ? (this.#shape.layerOf.get(step.id) as number) : 0;
      let heap = this.#heaps.get(layer);
      if (heap === undefined) this.#heaps.set(layer, (heap = new MinHeap()));
      heap.push(this.#position.get(step.id) as number);
      return;
    }
    this.#open.delete(step.id);
    if (gate.gate === 'skip') answer.skip.push({ id: step.id, reason: gate.reason });
  }

  #settle(step: ShapedStep): void {
    if (this.#ended.has(step.id)) return;
    this.#ended.add(step.id);
    const phase = phaseOfStep(step);
    const layer = this.#shape.layerOf.get(step.id) as number;
    this.#unended[phase][layer] = (this.#unended[phase][layer] as number) - 1;
    this.#left[phase] -= 1;
  }

  // Moves on to the lowest layer, and to the phase, in which something has not ended.
  #advance(): void {
    while (this.#phase !== 'ended') {
      const layers = this.#unended[this.#phase];
      while (this.#layer < layers.length && layers[this.#layer] === 0) this.#layer += 1;
      if (this.#left[this.#phase] > 0) return;
      this.#phase = this.#phase === 'main' ? 'finally' : 'ended';
      this.#layer = 0;
      this.#heaps.clear();
      this.#markPending();
    }
  }

  #markPending(): void {
    for (const step of this.#shape.steps) {
      if (phaseOfStep(step) === this.#phase && this.#stateOf(step.id).status === 'pending') this.#dirty.add(step.id);
    }
  }
}

function phaseOfStep(step: ShapedStep): 'main' | 'finally' {
  return step.finally ? 'finally' : 'main';
}
