// All checks of one plan, in the order in which each may rely on the ones before.
import type { JsonObject, JsonValue } from '../core/json.js';
import { stepsThatMaySkip } from './absence.js';
import type { AuthoredPlan } from './authored.js';
import { checkPassedThrough } from './check-env.js';
import { checkFunctions } from './check-functions.js';
import { checkModules } from './check-modules.js';
import { layoutFault } from './check-layout.js';
import { checkCycles, checkNeeds } from './check-needs.js';
import { checkParams } from './check-params.js';
import { checkReferences } from './check-references.js';
import { checkSteps } from './check-steps.js';
import { checkTypes } from './check-types.js';
import { normalizePlan } from './normalize.js';
import type { Plan } from './plan.js';
import { PlanContext, type PlanSurroundings } from './plan-context.js';
import type { Finding, ProblemList } from './problem-list.js';
import { rangeOf, TreeReader } from './read-tree.js';
import { planShape } from './schema-shape.js';
import { SourceMap } from './source-map.js';
import type { SourceText } from './source-text.js';
import { draftSteps } from './step-draft.js';
import { describe, validateSchema } from './validate-schema.js';
import type { YamlTree } from './yaml-document.js';

/** The canonical plan; undefined when there are errors. What is wrong is added to `problems`. */
export async function checkPlan(tree: YamlTree, source: SourceText, problems: ProblemList, surroundings: PlanSurroundings): Promise<Plan | undefined> {
  const layout = layoutFault(tree, source);
  if (layout !== undefined) {
    problems.add(layout);
    return undefined;
  }
  const reader = new TreeReader(tree, source, problems);
  const root = reader.read(planShape());
  if (root === null || root === undefined || typeof root !== 'object' || Array.isArray(root)) {
    if (!problems.hasErrors) problems.add(notAMapping(root, source, tree));
    return undefined;
  }
  return checkRoot(root, new SourceMap(tree, reader.renames, source), source, problems, surroundings);
}

/** The checks after reading: `root` is a mapping, without unknown keys. */
export async function checkRoot(root: JsonValue, map: SourceMap, source: SourceText, problems: ProblemList, surroundings: PlanSurroundings): Promise<Plan | undefined> {
  validateSchema(root as JsonObject, problems, map);
  // Of a newer language nothing else can be judged.
  if (problems.narrowTo('unknown_language_version')) return undefined;
  const plan = root as unknown as AuthoredPlan;
  const context = new PlanContext(plan, draftSteps(plan, problems), problems, map, source, surroundings);
  const hostEnv = await checkMeaning(context);
  return problems.hasErrors ? undefined : normalizePlan(plan, context.drafts.values(), [...hostEnv]);
}

async function checkMeaning(context: PlanContext): Promise<Set<string>> {
  const hostEnv = new Set<string>();
  checkParams(context);
  checkSteps(context);
  checkNeeds(context);
  const live = checkReferences(context, hostEnv);
  checkPassedThrough(context, hostEnv);
  const order = checkCycles(context);
  checkTypes(context, live, order, stepsThatMaySkip(order, context.drafts));
  checkFunctions(context, context.surroundings.functions);
  await checkModules(context);
  return hostEnv;
}

function notAMapping(root: unknown, source: SourceText, tree: YamlTree): Finding {
  const hint = 'a plan begins with "plan: 1", "name: …" and "steps:"';
  const empty = root === null && source.text.split('\n').every((line) => /^\s*(?:#.*|---|\.\.\.)?\s*$/.test(line));
  return empty
    ? { code: 'empty_file', message: 'expected a plan, found an empty file', hint, path: [], start: 0, end: 1 }
    : { code: 'wrong_type', message: `expected a mapping, found ${describe(root)}`, hint, path: [], ...rangeOf(tree.root) };
}
