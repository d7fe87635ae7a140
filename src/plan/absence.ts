// When what a step gives may be missing. The rule: reading outputs or the result of a step is safe where the reader is
// itself skipped whenever they are missing; else the read must be guarded by has() or a default.
import type { Reference } from '../expression/references.js';
import type { StepDraft } from './step-draft.js';
import { quote } from '../core/suggest.js';

type Absent = { code: 'may_be_absent'; message: string; hint: string } | undefined;

/** Whether `reader` can run while the referred value is missing. `target` is a need of the reader, or a main step read from `finally`. */
export function mayBeAbsent(reader: StepDraft, target: StepDraft, reference: Reference): Absent {
  const after = reader.authored.after ?? 'success';
  if (reader.finally && !target.finally) return absent(reference, target, 'steps under "finally" run also when it did not complete');
  if (after !== 'success') return absent(reference, target, `this step has after: ${after}, so it may run when ${quote(target.id)} did not complete`);
  if (target.authored.continue_on_error === true) return absent(reference, target, `${quote(target.id)} has continue_on_error, so it may have failed`);
  return optionalOutput(reference, target);
}

/** The same for a read from the plan's `outputs`, which are made when the session completed. */
export function mayBeAbsentAtEnd(target: StepDraft, reference: Reference, maySkip: ReadonlySet<string>): Absent {
  if (maySkip.has(target.id)) return absent(reference, target, `${quote(target.id)} may be skipped`);
  if (target.authored.continue_on_error === true) return absent(reference, target, `${quote(target.id)} has continue_on_error, so it may have failed`);
  return optionalOutput(reference, target);
}

function optionalOutput(reference: Reference, target: StepDraft): Absent {
  if (reference.member !== 'outputs' || reference.output === undefined) return undefined;
  return target.outputs.get(reference.output)?.optional === true ? absent(reference, target, 'the output is optional') : undefined;
}

function absent(reference: Reference, target: StepDraft, why: string): Absent {
  const id = /-/.test(target.id) ? `steps["${target.id}"]` : `steps.${target.id}`;
  const name = reference.member === 'result' ? `${id}.result` : `${id}.outputs${reference.output === undefined ? '' : `.${reference.output}`}`;
  return { code: 'may_be_absent', message: `${name} may be absent: ${why}`, hint: `guard it: has(${name}) ? ${name} : …` };
}

/**
 * Steps of a completed session that may have been skipped: they have an `if`, run only after a failure, or need one
 * that may be skipped. `order` lists needs before what needs them.
 */
export function stepsThatMaySkip(order: readonly string[], drafts: ReadonlyMap<string, StepDraft>): Set<string> {
  const found = new Set<string>();
  for (const id of order) {
    const draft = drafts.get(id) as StepDraft;
    const { after = 'success' } = draft.authored;
    const hasIf = draft.authored.if !== undefined && draft.authored.if !== true;
    if (hasIf || after === 'failure' || (after === 'success' && draft.needs.some((need) => found.has(need)))) found.add(id);
  }
  return found;
}

/** Why a step has no result; undefined when it has one, or when nothing is known of it. */
export function resultOf(target: StepDraft): { message: string; hint: string } | undefined {
  const name = quote(target.id);
  switch (target.kind) {
    case 'run':
      return target.authored.stdout === undefined ? { message: `the step ${name} keeps no result`, hint: `add "stdout: text" (or json, lines) to ${target.id}` } : undefined;
    case 'check':
    case 'wait':
      return { message: `the step ${name} has no result: a ${target.kind} gives none`, hint: `steps.${target.id}.status says how it ended` };
    case 'set':
      return { message: `the step ${name} has no result: what it sets are its outputs`, hint: `write steps.${target.id}.outputs.NAME` };
    default:
      return undefined;
  }
}
