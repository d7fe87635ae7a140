// Types of expressions, in an order in which what `set` steps make is known before it is read.
import { checkExpression, checkTemplate, type ExpressionType, type TypeEnvironment } from '../expression/check.js';
import { mayBeAbsentAtEnd } from './absence.js';
import { stripExpression } from './bare-expression.js';
import type { LiveSite } from './check-references.js';
import type { ValueType } from './plan.js';
import { VALUE_TYPES } from './plan.js';
import type { PlanContext } from './plan-context.js';
import type { Site } from './sites.js';
import type { StepDraft } from './step-draft.js';

/** @param order ids with needs before what needs them; steps behind a cycle are not in it, and not judged */
export function checkTypes(context: PlanContext, live: readonly LiveSite[], order: readonly string[], maySkip: ReadonlySet<string>): void {
  const byReader = new Map<StepDraft, LiveSite[]>();
  const ofPlan: LiveSite[] = [];
  for (const entry of live) {
    const { reader } = entry.site;
    if (typeof reader !== 'object') ofPlan.push(entry);
    else if (!byReader.has(reader)) byReader.set(reader, [entry]);
    else byReader.get(reader)?.push(entry);
  }
  const environment = new PlanTypes(context);
  for (const id of order) {
    const draft = context.drafts.get(id) as StepDraft;
    literalTypes(draft);
    for (const { site, sound } of byReader.get(draft) ?? []) if (sound) checkSite(context, site, environment);
  }
  for (const { site, sound, references } of ofPlan) {
    if (!sound) continue;
    let present = true;
    if (site.reader === 'end') {
      for (const reference of references) {
        const target = reference.root === 'steps' && !reference.guarded && (reference.member === 'outputs' || reference.member === 'result') ? context.drafts.get(reference.name as string) : undefined;
        const fault = target === undefined ? undefined : mayBeAbsentAtEnd(target, reference, maySkip);
        if (fault === undefined) continue;
        present = false;
        context.faultIn(site, reference.offset, reference.length, fault.code, fault.message, fault.hint);
      }
    }
    if (present) checkSite(context, site, environment);
  }
}

function checkSite(context: PlanContext, site: Site, environment: TypeEnvironment): void {
  const bare = site.form === 'expression' ? stripExpression(site.text) : { text: site.text, offset: 0 };
  const found = site.form === 'expression' ? checkExpression(bare.text, environment, 'boolean') : checkTemplate(bare.text, environment, site.wants === 'text' ? 'text' : undefined);
  if ('faults' in found) {
    // What follows from the first fault of an expression is not told; a word that no status has stands for itself.
    const told = found.faults.filter((fault, index) => index === 0 || fault.code === 'unknown_status');
    for (const fault of told) context.faultIn(site, bare.offset + fault.offset, fault.length, fault.code, fault.message, fault.hint);
    return;
  }
  if (site.sets !== undefined && typeof site.reader === 'object' && site.path.length === site.reader.path.length + 2) {
    const output = site.reader.outputs.get(site.sets);
    if (output !== undefined) output.type = valueType(found.type);
  }
}

const valueType = (type: ExpressionType): ValueType | undefined => (VALUE_TYPES as readonly string[]).includes(type) ? (type as ValueType) : undefined;

// Values that `set` gives without any expression.
function literalTypes(draft: StepDraft): void {
  for (const [name, value] of Object.entries(draft.authored.set ?? {})) {
    const output = draft.outputs.get(name);
    if (output === undefined || value === null || (typeof value === 'string' && value.includes('${{'))) continue;
    output.type = Array.isArray(value) ? 'array' : typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value === 'object' ? 'object' : (typeof value as ValueType);
  }
}

/** Types of what the plan declares, as expressions see them. Asked by name: a plan of 50,000 steps costs nothing more. */
class PlanTypes implements TypeEnvironment {
  readonly #context: PlanContext;
  constructor(context: PlanContext) {
    this.#context = context;
  }
  param(name: string): ExpressionType {
    return this.#context.plan.params?.[name]?.type ?? 'any';
  }
  output(id: string, name: string): ExpressionType {
    return this.#context.drafts.get(id)?.outputs.get(name)?.type ?? 'any';
  }
  result(id: string): ExpressionType {
    const draft = this.#context.drafts.get(id);
    if (draft?.kind === 'http') return 'http_result';
    if (draft?.kind !== 'run') return 'any';
    const { stdout } = draft.authored;
    return stdout === 'text' ? 'string' : stdout === 'lines' ? 'array' : 'any';
  }
}
