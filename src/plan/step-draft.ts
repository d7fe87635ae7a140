// A step on its way from the authored form to the canonical one: what the checks pass along.
import type { AuthoredPlan, AuthoredStep } from './authored.js';
import { KINDS } from './authored.js';
import type { StepKind, ValueType } from './plan.js';
import type { PlanPath, ProblemList } from './problem-list.js';

/** An item of `needs`, or a part of a text. */
export interface NeedPlace {
  path: PlanPath;
  text?: string;
  offset?: number;
  length?: number;
}

export interface StepDraft {
  id: string;
  finally: boolean;
  path: PlanPath;
  authored: AuthoredStep;
  /** Undefined when the step has no kind (told already). */
  kind: StepKind | undefined;
  /** Declared outputs; of a `set` step, what it sets. Undefined type: not known before it runs. */
  outputs: Map<string, { type: ValueType | undefined; optional: boolean }>;
  /** False when part of the outputs was misread, so that nothing is said about names that are missing. */
  outputsKnown: boolean;
  /** Ids of explicit needs that exist, then those that references add. */
  needs: string[];
  /** Where each need was first mentioned. */
  needPlaces: Map<string, NeedPlace>;
  inferred: string[];
  secrets: string[];
}

/** Drafts of all steps, in file order, `steps` before `finally`, by id. The first of two with one id wins (told by the id check). */
export function draftSteps(plan: AuthoredPlan, problems: ProblemList): Map<string, StepDraft> {
  const drafts = new Map<string, StepDraft>();
  for (const section of ['steps', 'finally'] as const) {
    for (const [id, authored] of Object.entries(plan[section] ?? {})) {
      if (!drafts.has(id)) drafts.set(id, draftOf(id, authored, section, problems));
    }
  }
  return drafts;
}

function draftOf(id: string, authored: AuthoredStep, section: 'steps' | 'finally', problems: ProblemList): StepDraft {
  const path = [section, id];
  const outputs: StepDraft['outputs'] = new Map();
  for (const [name, written] of Object.entries(authored.outputs ?? {})) outputs.set(name, outputSpec(written));
  for (const name of Object.keys(authored.set ?? {})) outputs.set(name, { type: undefined, optional: false });
  return {
    id,
    finally: section === 'finally',
    path,
    authored,
    kind: KINDS.find((kind) => authored[kind] !== undefined),
    outputs,
    outputsKnown: !problems.isTouched([...path, 'outputs']) && !problems.isTouched([...path, 'set']) && !problems.isBroken(path),
    needs: [],
    needPlaces: new Map(),
    inferred: [],
    secrets: [],
  };
}

function outputSpec(written: NonNullable<AuthoredStep['outputs']>[string]): { type: ValueType | undefined; optional: boolean } {
  return typeof written === 'string' ? { type: written, optional: false } : { type: written.type, optional: written.optional ?? false };
}
