// Compiles an expression: what it reads becomes variables of known types, and the rest is written again as print.ts says.
import { celEnvironment, variableOf, type CelType } from './environment.js';
import { explain } from './explain.js';
import { ExpressionError, inExpression } from './expression-error.js';
import { asExpressionError, findUnknown } from './find-unknown.js';
import { printExpression, type NamedSlot, type Printed } from './print.js';
import { slotsOf, type Slot } from './references.js';
import { callOf, parseExpression, type Node } from './syntax.js';

export interface Compiled {
  tree: Node;
  slots: readonly NamedSlot[];
  /** Evaluates; reads a variable only when the expression comes to it. */
  run(values: object): unknown;
  /** CEL type of the result as far as it is known, such as `double` or `dyn`. */
  type: string;
  /** An error that `run` threw, in the user's words and at the user's place. */
  explain(error: unknown): ExpressionError;
}

/** The reference that an expression is, when it is one that is read as it stands, and nothing else. */
export function onlyReference(text: string): Slot | undefined {
  const [slot, ...others] = slotsOf(text);
  if (slot === undefined || others.length > 0 || slot.form !== 'value' || slot.node !== parseExpression(text)) return undefined;
  return findUnknown(slot.node, text).length === 0 ? slot : undefined;
}

/**
 * @param typeOf type of the value of a reference, `dyn` where nothing is known
 * @throws ExpressionError when the text does not parse, has unknown names, or its types do not fit
 */
export function compileExpression(text: string, typeOf: (slot: Slot) => CelType): Compiled {
  const tree = parseExpression(text);
  const [unknown] = findUnknown(tree, text);
  if (unknown !== undefined) throw asExpressionError(unknown, text);
  const slots = slotsOf(text).map((slot, i): NamedSlot => {
    const type = slot.form === 'presence' ? 'bool' : typeOf(slot);
    return { ...slot, variable: variableOf(type, slot.form === 'optional', i) };
  });
  const loose = new Set<Node>();
  for (;;) {
    const printed = printExpression(tree, slots, loose);
    const explainHere = (error: unknown) => explained(error, printed, text);
    let program: ReturnType<ReturnType<typeof celEnvironment>['parse']>;
    let checked: ReturnType<(typeof program)['check']>;
    try {
      program = celEnvironment().parse(printed.text);
      checked = program.check();
    } catch (error) {
      throw explainHere(error);
    }
    if (checked.valid) return { tree, slots, run: (values) => program(values as { [name: string]: unknown }) as unknown, type: String(checked.type), explain: explainHere };
    if (!loosen(checked.error, printed, loose)) throw explainHere(checked.error);
  }
}

// JSON has no types of branches: `has(x) ? x : null` is as good as any. Where types meet that differ, nothing more is
// said of the type of the whole. False when the error is of another kind.
function loosen(error: unknown, printed: Printed, loose: Set<Node>): boolean {
  const { code, range } = error as { code?: string; range?: { start: number; end: number } };
  const node = range === undefined ? undefined : printed.nodeAt(range);
  if (node === undefined) return false;
  const before = loose.size;
  if (code === 'incompatible_ternary_branches' && node.op === '?:') for (const branch of (node.args as Node[]).slice(1)) loose.add(branch);
  if (code === 'incompatible_argument_type' && callOf(node)?.name !== 'or') loose.add(node);
  return loose.size > before;
}

function explained(error: unknown, printed: Printed, text: string): ExpressionError {
  if (error instanceof ExpressionError) return error;
  const { range } = error as { range?: { start: number; end: number } };
  const node = range === undefined ? undefined : printed.nodeAt(range);
  const { message, hint } = explain(error, node, node === undefined ? undefined : text.slice(node.start, node.end));
  const place = node === undefined ? undefined : { offset: node.start, length: node.end - node.start };
  return new ExpressionError(inExpression(message, text), text, place, hint, message);
}
