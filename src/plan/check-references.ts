// What expressions refer to: every name must exist, may be read at its place, and is there when it is read. References
// to steps become edges here.
//
// N1. One reference gives at most one problem; a place with a problem here is not asked for its type.
// N2. A reference to a step makes that step a need of the reader, except from `finally` to a main step.
import { ExpressionError } from '../expression/expression-error.js';
import { presenceBehind, referencesOf, type Reference } from '../expression/references.js';
import { templateExpressions } from '../expression/template-text.js';
import { stripExpression } from './bare-expression.js';
import { mayBeAbsent, resultOf } from './absence.js';
import { checkBraces } from './forgotten-braces.js';
import { checkEnvReference } from './check-env.js';
import type { PlanContext } from './plan-context.js';
import { planSites, stepSites, type Site } from './sites.js';
import type { NeedPlace, StepDraft } from './step-draft.js';
import type { ReferenceFault } from './problem-list.js';
import { hintFor, listOf, nearest, quote } from '../core/suggest.js';

/** A place with at least one expression in it. */
export interface LiveSite {
  site: Site;
  references: readonly Reference[];
  /** False when something was told about it already. */
  sound: boolean;
}

function expressionsOf(site: Site): Array<{ expression: string; offset: number }> {
  if (site.form === 'template') return templateExpressions(site.text);
  const { text, offset } = stripExpression(site.text);
  return [{ expression: text, offset }];
}

/** Finds and checks all references, and adds the needs that they make. */
export function checkReferences(context: PlanContext, hostEnv: Set<string>): LiveSite[] {
  const live: LiveSite[] = [];
  const visit = (site: Site, present: Presence) => {
    if (site.form === 'template' && !site.text.includes('${{')) return checkBraces(context, site);
    const found = checkSite(context, site, hostEnv, present);
    live.push(found);
    if (found.sound) checkBraces(context, site);
  };
  for (const site of planSites(context.plan)) visit(site, NOTHING);
  for (const draft of context.drafts.values()) {
    const behindIf = presenceIn(draft);
    // The step runs only when its `if` was true: all its other places stand behind it.
    for (const site of stepSites(draft)) visit(site, site.wants === 'condition' && site.path.at(-1) === 'if' ? NOTHING : behindIf);
  }
  return live;
}

/** Whether a value is known to be there where it is read. */
type Presence = (reference: Reference) => boolean;
const NOTHING: Presence = () => false;

function presenceIn({ authored }: StepDraft): Presence {
  return typeof authored.if === 'string' ? presenceBehind(stripExpression(authored.if).text) : NOTHING;
}

function checkSite(context: PlanContext, site: Site, hostEnv: Set<string>, present: Presence): LiveSite {
  const references: Reference[] = [];
  let at = 0;
  try {
    for (const { expression, offset } of expressionsOf(site)) {
      at = offset;
      for (const found of referencesOf(expression)) {
        const guarded = found.guarded || present(found);
        references.push(offset === 0 && guarded === found.guarded ? found : { ...found, guarded, offset: found.offset + offset });
      }
    }
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    context.faultIn(site, at + (error.offset ?? 0), error.length ?? 1, 'bad_expression', error.message, error.hint);
    return { site, references: [], sound: false };
  }
  let sound = true;
  for (const reference of references) {
    const fault = faultOf(context, site, reference, hostEnv);
    if (fault === undefined) continue;
    sound = false;
    if (fault !== 'told') context.faultIn(site, reference.offset, reference.length, fault.code, fault.message, fault.hint);
  }
  return { site, references, sound };
}

function faultOf(context: PlanContext, site: Site, reference: Reference, hostEnv: Set<string>): ReferenceFault {
  switch (reference.root) {
    case 'steps':
      return stepFault(context, site, reference);
    case 'params':
      return paramFault(context, reference);
    case 'secrets':
      return secretFault(context, site, reference);
    case 'env':
      return checkEnvReference(context, site, reference, hostEnv);
    case 'session':
      return sessionFault(site, reference);
    case 'plan':
      return reference.name === undefined || reference.name === 'name' ? undefined : { code: 'unknown_name', message: `"plan" has no member ${quote(reference.name)}`, hint: 'there is plan.name' };
  }
}

function paramFault(context: PlanContext, { name }: Reference): ReferenceFault {
  const params = context.plan.params ?? {};
  if (name === undefined || Object.hasOwn(params, name)) return undefined;
  if (context.problems.isBroken(['params'])) return 'told';
  return { code: 'unknown_param', message: `there is no param ${quote(name)}`, hint: hintFor(name, Object.keys(params), 'declare it under "params"') };
}

function secretFault(context: PlanContext, site: Site, { name }: Reference): ReferenceFault {
  if (site.noSecrets !== undefined) return { code: 'secret_not_allowed', message: `a secret cannot be used here: ${site.noSecrets}`, hint: 'secrets go in env, http, call.args and stdin' };
  if (name === undefined) return { code: 'dynamic_reference', message: 'a secret is read by its own name', hint: 'write secrets.NAME' };
  if (!(context.plan.secrets ?? []).includes(name)) {
    if (context.problems.isTouched(['secrets'])) return 'told';
    return { code: 'unknown_secret', message: `there is no secret ${quote(name)}`, hint: hintFor(name, context.plan.secrets ?? [], 'list it under "secrets"') };
  }
  if (typeof site.reader === 'object' && !site.reader.secrets.includes(name)) site.reader.secrets.push(name);
  return undefined;
}

function sessionFault(site: Site, { name }: Reference): ReferenceFault {
  if (name === undefined || name === 'id') return undefined;
  if (name !== 'status') return { code: 'unknown_name', message: `"session" has no member ${quote(name)}`, hint: 'there are session.id and, under finally, session.status' };
  if (typeof site.reader === 'object' && site.reader.finally) return undefined;
  return { code: 'reference_not_allowed', message: 'session.status is known only under "finally"', hint: 'read the status of a step: steps.ID.status' };
}

function stepFault(context: PlanContext, site: Site, reference: Reference): ReferenceFault {
  const { name: id } = reference;
  if (id === undefined) return { code: 'dynamic_reference', message: 'a step is read by its own id', hint: 'write steps.ID, or steps["ID"] for an id with "-"' };
  const target = context.drafts.get(id);
  if (target === undefined) return unknownStep(context, id);
  const { reader } = site;
  if (reader === 'start') return { code: 'reference_not_allowed', message: 'steps cannot be read here: this is resolved before any step runs', hint: 'use it in a step' };
  if (reader === target) return { code: 'self_need', message: `the step ${quote(id)} cannot read itself` };
  if (reader !== 'end' && !reader.finally && target.finally) return { code: 'not_upstream', message: `${quote(id)} is a step under "finally", which runs after this one` };
  if (reader !== 'end' && reader.finally === target.finally) addNeed(reader, id, { path: site.path, text: site.text, offset: reference.offset, length: reference.length });
  return memberFault(site, reference, target);
}

/** The fault of an id that no step has. */
export function unknownStep(context: PlanContext, id: string): ReferenceFault {
  if (context.problems.isBroken(['steps']) || context.problems.isBroken(['finally'])) return 'told';
  const alone = /^(?:\$\{\{\s*)?(?:steps\.)?([\w-]+)(?:\.\w+)*(?:\s*\}\})?$/.exec(id)?.[1];
  if (alone !== undefined && alone !== id && context.drafts.has(alone)) return { code: 'unknown_step', message: `there is no step ${quote(id)}`, hint: `write the id alone: ${alone}` };
  const ids = context.suggestionsFrom(context.drafts);
  const dashed = ids.find((known) => known.startsWith(`${id}-`));
  const meant = nearest(id, ids);
  const hint = meant !== undefined ? `did you mean "${meant}"?` : dashed !== undefined ? `write steps["${dashed}"]` : ids.length > 0 && ids.length <= 12 ? `there are ${listOf(ids, 'and')}` : undefined;
  return { code: 'unknown_step', message: `there is no step ${quote(id)}`, hint };
}

function addNeed(reader: StepDraft, id: string, place: NeedPlace): void {
  if (reader.needPlaces.has(id)) return;
  reader.needPlaces.set(id, place);
  reader.needs.push(id);
  reader.inferred.push(id);
}

function memberFault(site: Site, reference: Reference, target: StepDraft): ReferenceFault {
  const { member, output } = reference;
  if (member === 'result') {
    const result = resultOf(target);
    if (result !== undefined) return { code: 'no_result', ...result };
  }
  if (member === 'outputs' && output !== undefined && !target.outputs.has(output)) {
    if (!target.outputsKnown) return 'told';
    const names = [...target.outputs.keys()];
    return { code: 'unknown_output', message: `the step ${quote(target.id)} has no output ${quote(output)}`, hint: hintFor(output, names, `declare it under "outputs" of ${target.id}`) };
  }
  if (member === undefined || member === 'status' || reference.guarded) return undefined;
  return site.reader === 'end' ? undefined : mayBeAbsent(site.reader as StepDraft, target, reference);
}
