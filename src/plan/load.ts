// loadPlan: from a file, a text or an object to the canonical plan, or to all problems at once.
import { realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { findNonJson, type JsonObject } from '../core/json.js';
import { foreignText } from './check-layout.js';
import { checkPlan, checkRoot } from './check-plan.js';
import type { Plan } from './plan.js';
import type { PlanSurroundings } from './plan-context.js';
import type { Problem } from './problem.js';
import { ProblemList, problemOf } from './problem-list.js';
import { checkSource, OWN_INPUT, readSource, type SourceFault } from './read-source.js';
import { NeedsText, readDefinition } from './read-definition.js';
import { planShape } from './schema-shape.js';
import { SourceMap } from './source-map.js';
import { SourceText } from './source-text.js';
import { parseYaml, type YamlTree } from './yaml-document.js';

/** A path, a text (YAML or JSON), or the plan as an object. */
export type PlanInput = string | { source: string; file?: string; base_dir?: string } | { definition: object; file?: string; base_dir?: string };

export interface LoadedPlan {
  ok: true;
  plan: Plan;
  /** The text that was read, without a byte order mark. */
  source: string;
  /** The path as given; `<source>` or `<definition>` without one. */
  file: string;
  /** Absolute folder that relative paths of the plan start from. */
  base_dir: string;
  warnings: Problem[];
}

export type LoadResult = LoadedPlan | { ok: false; problems: Problem[] };

export interface LoadOptions {
  /** Names of the functions that `call` steps may use; left out, they are checked when the plan is run. */
  functions?: readonly string[];
}

/**
 * Loads and checks a plan; runs nothing of it. Whatever is wrong with the plan is returned, also a file that is not
 * there: `problems` are in file order, each with a position, warnings among them.
 */
export async function loadPlan(input: PlanInput, options: LoadOptions = {}): Promise<LoadResult> {
  const { functions } = options;
  if (typeof input === 'string') {
    const read = await readSource(input);
    if ('fault' in read) return { ok: false, problems: [fileProblem(read.fault, input)] };
    return check(read.text, input, { base_dir: await folderOf(input), functions });
  }
  const place: PlanSurroundings = { functions, base_dir: resolve(input.base_dir ?? (input.file === undefined ? '.' : dirname(input.file))) };
  if ('source' in input) {
    const file = input.file ?? '<source>';
    const read = checkSource(input.source);
    return 'fault' in read ? { ok: false, problems: [fileProblem(read.fault, file)] } : check(read.text, file, place);
  }
  return checkDefinition(input.definition, input.file ?? '<definition>', place);
}

async function folderOf(file: string): Promise<string> {
  // A link to a plan file means the folder where the plan is.
  // A pipe is in no folder: relative paths mean the current one.
  return realpath(file).then(dirname, () => (OWN_INPUT.test(file) ? resolve('.') : dirname(resolve(file))));
}

async function check(text: string, file: string, place: PlanSurroundings): Promise<LoadResult> {
  const source = new SourceText(text);
  const parsed = parseYaml(text);
  if ('fault' in parsed) return { ok: false, problems: [problemOf(foreignText(text) ?? { ...parsed.fault, path: [] }, source, file)] };
  return checkTree(parsed.tree, source, file, place);
}

// An object has no positions. It is checked as it is, and only when there is something to tell, once more as text.
async function checkDefinition(definition: object, file: string, place: PlanSurroundings): Promise<LoadResult> {
  const wrong = findNonJson(definition);
  if (wrong !== undefined) {
    return { ok: false, problems: [fileProblem({ code: 'not_json', message: `expected JSON all through, found ${wrong.found} at ${wrong.path}` }, file)] };
  }
  const read = checkSource(JSON.stringify(definition, null, 2));
  if ('fault' in read) return { ok: false, problems: [fileProblem(read.fault, file)] };
  const plan = await planOfDefinition(definition as JsonObject, place);
  return plan === undefined ? check(read.text, file, place) : { ok: true, plan, source: read.text, file, base_dir: place.base_dir, warnings: [] };
}

async function planOfDefinition(definition: JsonObject, place: PlanSurroundings): Promise<Plan | undefined> {
  try {
    const problems = new ProblemList();
    const source = new SourceText('');
    const plan = await checkRoot(readDefinition(definition, planShape()), new SourceMap({ root: null, target: () => undefined }, new Map(), source), source, problems, place);
    return problems.isEmpty ? plan : undefined;
  } catch (error) {
    if (error instanceof NeedsText) return undefined;
    throw error;
  }
}

async function checkTree(tree: YamlTree, source: SourceText, file: string, place: PlanSurroundings): Promise<LoadResult> {
  const problems = new ProblemList();
  const plan = await checkPlan(tree, source, problems, place);
  const told = problems.toProblems(source, file);
  return plan === undefined ? { ok: false, problems: told } : { ok: true, plan, source: source.text, file, base_dir: place.base_dir, warnings: told };
}

function fileProblem(fault: SourceFault, file: string): Problem {
  return { severity: 'error', ...fault, file, line: 1, column: 1, end_line: 1, end_column: 1, path: '', frame: '' };
}
