// Dependencies between steps as a graph, and the three things asked of it: its layers, its cycles, its order.
// Everything here is iterative: a chain of 20,000 steps must not meet the end of the stack, so graphlib's own
// (recursive) algorithms are not used.
import { Graph } from '@dagrejs/graphlib';

/** What a graph needs to know of a step. */
export interface GraphStep {
  id: string;
  needs: readonly string[];
}

/** Edges between step ids, kept in a graphlib graph. */
export class StepGraph {
  readonly #graph: Graph = new Graph({ directed: true });
  /** In the order given. */
  readonly ids: readonly string[];

  constructor(steps: readonly GraphStep[]) {
    this.ids = steps.map((step) => step.id);
    for (const step of steps) this.#graph.setNode(nodeOf(step.id));
    for (const step of steps) {
      for (const need of step.needs) {
        if (!this.#graph.hasNode(nodeOf(need))) {
          throw new Error(`step "${step.id}" needs "${need}", which is not in this graph`);
        }
        this.#graph.setEdge(nodeOf(need), nodeOf(step.id));
      }
    }
  }

  /** Ids of the steps that this one needs. */
  needsOf(id: string): string[] {
    return idsOf(this.#graph.predecessors(nodeOf(id)));
  }

  /** How many steps this one needs. */
  needCount(id: string): number {
    return (this.#graph.predecessors(nodeOf(id)) ?? []).length;
  }

  /** Ids of the steps that need this one. */
  dependentsOf(id: string): string[] {
    return idsOf(this.#graph.successors(nodeOf(id)));
  }
}

// graphlib keeps nodes in plain objects, where "toString" is already there; a prefix makes every id an ordinary key.
const PREFIX = ':';
const nodeOf = (id: string) => PREFIX + id;
const idsOf = (nodes: string[] | void) => (nodes ?? []).map((node) => node.slice(PREFIX.length));

/** The graph of some steps. Every id in `needs` must be among them; throws otherwise, so that no edge is lost in silence. */
export function buildGraph(steps: readonly GraphStep[]): StepGraph {
  return new StepGraph(steps);
}

/**
 * Topological levels: `levels` maps each id to its level from 0 (the longest path that leads to it), `layers` lists the
 * ids of each level in the order given. Steps on a cycle, and steps behind one, are in neither.
 */
export function layersOf(graph: StepGraph): { levels: Map<string, number>; layers: string[][] } {
  const levels = new Map<string, number>();
  const waitingFor = new Map<string, number>();
  let current: string[] = [];
  for (const id of graph.ids) {
    const count = graph.needCount(id);
    waitingFor.set(id, count);
    if (count === 0) current.push(id);
  }
  for (let level = 0; current.length > 0; level += 1) {
    const next: string[] = [];
    for (const id of current) {
      levels.set(id, level);
      for (const dependent of graph.dependentsOf(id)) {
        const left = (waitingFor.get(dependent) as number) - 1;
        waitingFor.set(dependent, left);
        if (left === 0) next.push(dependent);
      }
    }
    current = next;
  }
  const layers: string[][] = [];
  for (const id of graph.ids) {
    const level = levels.get(id);
    if (level !== undefined) (layers[level] ??= []).push(id);
  }
  return { levels, layers };
}

/**
 * A cycle as a path along `needs`: `[a, b, c]` says a needs b, b needs c, c needs a. It begins at its first step in the
 * order given. Undefined when there is none.
 */
export function findCycle(graph: StepGraph): string[] | undefined {
  return findCycles(graph)[0];
}

/** One short cycle for each group of steps that all reach each other, in the order given; empty for a DAG. */
export function findCycles(graph: StepGraph): string[][] {
  const { levels } = layersOf(graph);
  if (levels.size === graph.ids.length) return [];
  const cyclic = graph.ids.filter((id) => !levels.has(id));
  const cycles: string[][] = [];
  for (const [start, group] of groupsOf(graph, cyclic)) {
    const cycle = shortestCycle(graph, start, group);
    if (cycle !== undefined) cycles.push(cycle);
  }
  return cycles;
}

// Strongly connected components (Tarjan, with an explicit stack) among `ids`; each as [first member, members].
function groupsOf(graph: StepGraph, ids: readonly string[]): Array<[string, Set<string>]> {
  const order = new Map(ids.map((id, index) => [id, index]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const groups: Array<[string, Set<string>]> = [];
  for (const root of ids) {
    if (index.has(root)) continue;
    const path: Array<{ id: string; needs: string[]; next: number }> = [];
    const enter = (id: string) => {
      index.set(id, index.size);
      low.set(id, index.get(id) as number);
      open.push(id);
      isOpen.add(id);
      path.push({ id, needs: graph.needsOf(id).filter((need) => order.has(need)), next: 0 });
    };
    enter(root);
    while (path.length > 0) {
      const frame = path[path.length - 1] as (typeof path)[number];
      const need = frame.needs[frame.next];
      frame.next += 1;
      if (need !== undefined) {
        if (!index.has(need)) enter(need);
        else if (isOpen.has(need)) low.set(frame.id, Math.min(low.get(frame.id) as number, index.get(need) as number));
        continue;
      }
      path.pop();
      const parent = path[path.length - 1];
      if (parent !== undefined) low.set(parent.id, Math.min(low.get(parent.id) as number, low.get(frame.id) as number));
      if (low.get(frame.id) !== index.get(frame.id)) continue;
      const members = open.splice(open.lastIndexOf(frame.id));
      for (const member of members) isOpen.delete(member);
      const first = members.reduce((a, b) => ((order.get(a) as number) <= (order.get(b) as number) ? a : b));
      groups.push([first, new Set(members)]);
    }
  }
  return groups.sort((a, b) => (order.get(a[0]) as number) - (order.get(b[0]) as number));
}

// The shortest way from `start` along needs back to itself, within its group; undefined for a step alone without one.
function shortestCycle(graph: StepGraph, start: string, group: ReadonlySet<string>): string[] | undefined {
  const cameFrom = new Map<string, string>();
  let current = [start];
  while (current.length > 0) {
    const next: string[] = [];
    for (const id of current) {
      for (const need of graph.needsOf(id)) {
        if (need === start) return pathTo(id, start, cameFrom);
        if (!group.has(need) || cameFrom.has(need)) continue;
        cameFrom.set(need, id);
        next.push(need);
      }
    }
    current = next;
  }
  return undefined;
}

function pathTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [end];
  for (let id = end; id !== start; ) {
    id = cameFrom.get(id) as string;
    path.push(id);
  }
  return path.reverse();
}
