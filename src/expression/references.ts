// What an expression refers to.
//
// `guarded` says that a missing value does no harm there: the read stands inside has() or default(), goes through `.?`,
// or stands in a branch that is taken only when has() of the same path held, or when the step's status was "completed".
import type { JsonValue } from '../core/json.js';
import { MACROS } from './functions.js';
import { memoize } from './memoize.js';
import { callOf, chainOf, children, parseExpression, type Chain, type Node, type Root } from './syntax.js';
import { templateExpressions } from './template-text.js';

export interface Reference {
  root: Root;
  /** Step id, or name of the param, variable, secret or member; undefined when the root itself is read. */
  name?: string;
  /** Of a step: what of it is read; undefined when the step itself is. */
  member?: 'outputs' | 'result' | 'status';
  output?: string;
  guarded: boolean;
  /** Where the reference stands in the text that was asked about, and how long it is. */
  offset: number;
  length: number;
}

/** A reference as the compiler sees it: a place in the tree where a value of the plan is put. */
export interface Slot extends Reference {
  /** The names from the root to the value: `["a", "outputs", "x"]`. */
  names: readonly string[];
  /** `presence`: true or false, whether it is there. `optional`: the value or none. */
  form: 'value' | 'presence' | 'optional';
  /** The node that the value replaces. */
  node: Node;
  /** What is read from the value at once, when that is a name. */
  next?: { name: string; node: Node };
}

/** References of an expression, in the order of the text. ExpressionError when it does not parse. */
export const referencesOf: (expression: string) => readonly Reference[] = memoize((expression) =>
  slotsOf(expression).map(({ root, name, member, output, guarded, offset, length }) => {
    const reference: Reference = { root, guarded, offset, length };
    if (name !== undefined) reference.name = name;
    if (member !== undefined) reference.member = member;
    if (output !== undefined) reference.output = output;
    return reference;
  }),
);

/** References of all `${{ }}` of a text; offsets are into that text. */
export function referencesOfTemplate(text: string): Reference[] {
  return templateExpressions(text).flatMap(({ expression, offset }) =>
    referencesOf(expression).map((reference) => ({ ...reference, offset: reference.offset + offset })),
  );
}

/** References of every string in a JSON value, each as a template; offsets are into the string. */
export function referencesOfValue(value: JsonValue): Reference[] {
  const found: Reference[] = [];
  const stack: JsonValue[] = [value];
  while (stack.length > 0) {
    const item = stack.pop() as JsonValue;
    if (typeof item === 'string') {
      if (item.includes('${{')) for (const reference of referencesOfTemplate(item)) found.push(reference);
    } else if (item !== null && typeof item === 'object') {
      for (const member of (Array.isArray(item) ? [...item] : Object.values(item)).reverse()) stack.push(member);
    }
  }
  return found;
}

/** What is certainly there when a condition was true; empty when it does not parse. */
export function presenceBehind(condition: string): (reference: Reference) => boolean {
  let guards: Guards;
  try {
    guards = opened(parseExpression(condition), true, NO_NAMES);
  } catch {
    return () => false; // told where it stands
  }
  return ({ root, name, member, output }) => covers(guards, keyOf(root, [name, member, output].filter((part) => part !== undefined)));
}

/** The references of an expression with their nodes, in the order of the text. */
export function slotsOf(expression: string): Slot[] {
  const found: Slot[] = [];
  visit(parseExpression(expression), NO_GUARDS, NO_NAMES, found);
  return found.sort((a, b) => a.offset - b.offset);
}

/** Paths that are there, each as a canonical text. */
type Guards = ReadonlySet<string>;
const NO_GUARDS: Guards = new Set();
const NO_NAMES: ReadonlySet<string> = new Set();

function visit(node: Node, guards: Guards, bound: ReadonlySet<string>, found: Slot[]): void {
  const call = callOf(node);
  if (call !== undefined && call.receiver === undefined && (call.name === 'has' || call.name === 'default') && call.args[0] !== undefined) {
    const chain = chainOf(call.args[0], bound);
    if (chain !== undefined && chain.links.length > 0) {
      const wholeAsked = call.name === 'has' && chain.names.length === chain.links.length;
      found.push(wholeAsked ? presence(chain, node, call.args[0]) : slotOf(chain, 'optional', true));
      visitKeys(chain, guards, bound, found);
      for (const argument of call.args.slice(1)) visit(argument, guards, bound, found);
      return;
    }
  }
  const chain = chainOf(node, bound);
  if (chain !== undefined) {
    const optional = chain.links.some((link) => link.optional);
    found.push(optional ? slotOf(chain, 'optional', true) : slotOf(chain, 'value', isGuarded(chain, guards)));
    visitKeys(chain, guards, bound, found);
    return;
  }
  if (node.op === '?:' || node.op === '&&' || node.op === '||') {
    const [first, second, third] = node.args as [Node, Node, Node | undefined];
    visit(first, guards, bound, found);
    visit(second, union(guards, opened(first, node.op !== '||', bound)), bound, found);
    if (third !== undefined) visit(third, union(guards, opened(first, false, bound)), bound, found);
    return;
  }
  if (call?.receiver !== undefined && MACROS.has(call.name)) {
    visit(call.receiver, guards, bound, found);
    const [variable, ...bodies] = call.args;
    const inner = variable?.op === 'id' ? new Set([...bound, variable.args as string]) : bound;
    for (const body of bodies) visit(body, guards, inner, found);
    return;
  }
  for (const child of children(node)) visit(child, guards, bound, found);
}

function visitKeys(chain: Chain, guards: Guards, bound: ReadonlySet<string>, found: Slot[]): void {
  for (const { key } of chain.links) if (typeof key !== 'string') visit(key, guards, bound, found);
}

/** Paths that are certainly there when a condition is `truth`. */
function opened(condition: Node, truth: boolean, bound: ReadonlySet<string>): Guards {
  if (condition.op === '!_') return opened(condition.args as Node, !truth, bound);
  if (condition.op === (truth ? '&&' : '||')) {
    const [left, right] = condition.args as [Node, Node];
    return union(opened(left, truth, bound), opened(right, truth, bound));
  }
  const call = callOf(condition);
  if (truth && call?.name === 'has' && call.args[0] !== undefined) {
    const chain = chainOf(call.args[0], bound);
    return chain === undefined ? NO_GUARDS : new Set([keyOf(chain.root, chain.names)]);
  }
  if (condition.op === (truth ? '==' : '!=')) {
    const [left, right] = condition.args as [Node, Node];
    const [side, word] = left.op === 'value' ? [right, left] : [left, right];
    const chain = word.op === 'value' && word.args === 'completed' ? chainOf(side, bound) : undefined;
    if (chain?.root === 'steps' && chain.names[1] === 'status') return new Set([keyOf('steps', chain.names.slice(0, 1))]);
  }
  return NO_GUARDS;
}

function union(a: Guards, b: Guards): Guards {
  return b.size === 0 ? a : a.size === 0 ? b : new Set([...a, ...b]);
}

// So written that the key of a path begins with the key of every shorter one.
function keyOf(root: string, names: readonly string[]): string {
  return `${JSON.stringify([root, ...names]).slice(0, -1)},`;
}

// What is there makes what it stands in be there, and (steps have their outputs all at once) what stands in it.
function isGuarded(chain: Chain, guards: Guards): boolean {
  return covers(guards, keyOf(chain.root, chain.names.slice(0, ownLength(chain))));
}

function covers(guards: Guards, own: string): boolean {
  for (const guard of guards) if (guard.startsWith(own) || own.startsWith(guard)) return true;
  return false;
}

/** How many names of a chain belong to the reference; what follows is read from its value. */
function ownLength({ root, names }: Chain): number {
  return Math.min(root !== 'steps' ? 1 : names[1] === 'outputs' ? 3 : 2, names.length);
}

function slotOf(chain: Chain, form: 'value' | 'optional', guarded: boolean): Slot {
  const own = ownLength(chain);
  const node = chain.links[own - 1]?.node ?? chain.rootNode;
  const slot = makeSlot(chain, chain.names.slice(0, own), form, guarded, node, node);
  const following = chain.links[own];
  if (typeof following?.key === 'string') slot.next = { name: following.key, node: following.node };
  return slot;
}

function presence(chain: Chain, call: Node, asked: Node): Slot {
  return makeSlot(chain, chain.names, 'presence', true, call, asked);
}

// Made member by member: a plan may have a hundred thousand of them.
function makeSlot(chain: Chain, names: readonly string[], form: Slot['form'], guarded: boolean, node: Node, end: Node): Slot {
  const { root, rootNode } = chain;
  const slot: Slot = { root, guarded, offset: rootNode.start, length: end.end - rootNode.start, names, form, node };
  const [name, member, output] = chain.names.slice(0, ownLength(chain));
  if (name !== undefined) slot.name = name;
  if (root !== 'steps' || !MEMBERS.includes(member)) return slot;
  slot.member = member as 'outputs';
  if (output !== undefined) slot.output = output;
  return slot;
}

const MEMBERS: readonly unknown[] = ['outputs', 'result', 'status'];
