// What the checks of one plan share: the authored plan, its drafts, and a way to say what is wrong where.
import type { AuthoredPlan } from './authored.js';
import type { PlanPath, ProblemList } from './problem-list.js';
import type { SourceMap } from './source-map.js';
import type { SourceText } from './source-text.js';
import type { StepDraft } from './step-draft.js';
import type { ProblemCode } from './problem-code.js';

/** What is known of the place where the plan is. */
export interface PlanSurroundings {
  /** Absolute folder that relative paths start from. */
  base_dir: string;
  /** Functions that the host has for `call`; undefined when that is not known yet. */
  functions?: readonly string[] | undefined;
}

export class PlanContext {
  readonly plan: AuthoredPlan;
  readonly drafts: ReadonlyMap<string, StepDraft>;
  readonly problems: ProblemList;
  readonly surroundings: PlanSurroundings;
  readonly #map: SourceMap;
  readonly #source: SourceText;
  #suggestionCost = 0;

  constructor(plan: AuthoredPlan, drafts: ReadonlyMap<string, StepDraft>, problems: ProblemList, map: SourceMap, source: SourceText, surroundings: PlanSurroundings) {
    this.plan = plan;
    this.drafts = drafts;
    this.problems = problems;
    this.surroundings = surroundings;
    this.#map = map;
    this.#source = source;
  }

  /** Tells an error at a key or a value of the plan. */
  fault(path: PlanPath, at: 'key' | 'value', code: ProblemCode, message: string, hint?: string): void {
    this.problems.add({ code, message, hint, path, ...this.#range(path, at) });
  }

  /** Tells something that works but is hardly meant. */
  warn(path: PlanPath, at: 'key' | 'value', code: ProblemCode, message: string, hint?: string): void {
    this.problems.add({ severity: 'warning', code, message, hint, path, ...this.#range(path, at) });
  }

  /** Tells an error in a part of a text. */
  faultIn(site: { path: PlanPath; text: string }, offset: number, length: number, code: ProblemCode, message: string, hint?: string, severity: 'error' | 'warning' = 'error'): void {
    this.problems.add({ severity, code, message, hint, path: site.path, ...this.#map.partRange(site.path, site.text, offset, length) });
  }

  /** Ids to look for "did you mean" in; none any more when that has cost enough in this file. */
  suggestionsFrom(drafts: ReadonlyMap<string, StepDraft>): string[] {
    this.#suggestionCost += drafts.size;
    if (this.#suggestionCost > 300_000) return [];
    return [...drafts.keys()].filter((id) => /^[\w-]+$/.test(id));
  }

  /** Line of a key. */
  lineOf(path: PlanPath): number {
    return this.#source.positionOf(this.#map.keyRange(path).start).line;
  }

  #range(path: PlanPath, at: 'key' | 'value') {
    return at === 'key' ? this.#map.keyRange(path) : this.#map.shortRange(path);
  }
}
