// Edges between steps: explicit needs before the references, cycles after them.
import { buildGraph, findCycles, layersOf } from '../graph/graph.js';
import { unknownStep } from './check-references.js';
import type { PlanContext } from './plan-context.js';
import type { PlanPath } from './problem-list.js';
import type { NeedPlace, StepDraft } from './step-draft.js';
import { quote } from '../core/suggest.js';

/** Takes the explicit needs of all steps into their drafts; those that cannot be are told and left out. */
export function checkNeeds(context: PlanContext): void {
  for (const draft of context.drafts.values()) {
    draft.authored.needs?.forEach((need, index) => {
      const path = [...draft.path, 'needs', index];
      if (!draft.needPlaces.has(need) && isNeed(context, draft, need, path)) {
        draft.needPlaces.set(need, { path });
        draft.needs.push(need);
      }
    });
  }
}

function isNeed(context: PlanContext, draft: StepDraft, need: string, path: PlanPath): boolean {
  const target = context.drafts.get(need);
  if (target === draft) {
    context.fault(path, 'value', 'self_need', `the step ${quote(need)} cannot need itself`, 'remove it');
    return false;
  }
  if (target === undefined) {
    const fault = unknownStep(context, need);
    if (fault !== undefined && fault !== 'told') context.fault(path, 'value', fault.code, fault.message, fault.hint);
    return false;
  }
  if (target.finally === draft.finally) return true;
  if (target.finally) context.fault(path, 'value', 'not_upstream', `${quote(need)} is a step under "finally", which runs after this one`);
  else context.fault(path, 'value', 'not_upstream', `steps under "finally" begin when all others ended; they need none of them`, `remove it; to look at how it ended: if: steps.${need}.status == "completed"`);
  return false;
}

/** Tells every cycle. Returns the ids with needs before what needs them (those behind a cycle left out). */
export function checkCycles(context: PlanContext): string[] {
  const graph = buildGraph([...context.drafts.values()]);
  for (const cycle of findCycles(graph)) {
    const [first, second] = [cycle[0] as string, (cycle[1] ?? cycle[0]) as string];
    const place = context.drafts.get(first)?.needPlaces.get(second) as NeedPlace;
    const message = `steps wait for each other: ${pathOf(cycle)} (each needs the next)`;
    const hint = 'remove one of these needs or references';
    if (place.text === undefined) context.fault(place.path, 'value', 'cycle', message, hint);
    else context.faultIn({ path: place.path, text: place.text }, place.offset ?? 0, place.length ?? 0, 'cycle', message, hint);
  }
  return layersOf(graph).layers.flat();
}

const LONGEST_PATH = 10;

// `a → b → c → a`; of a long one the beginning and the end.
function pathOf(cycle: readonly string[]): string {
  const ring = [...cycle, cycle[0] as string];
  if (ring.length <= LONGEST_PATH) return ring.join(' → ');
  return [...ring.slice(0, 5), `… ${ring.length - 8} more …`, ...ring.slice(-3)].join(' → ');
}
