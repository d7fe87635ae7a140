// What an expression refers to. `guarded` says that a missing value does no harm there: the read stands inside has(),
// before `.?`, or in a branch that has() of the same path (or a status of "completed") opened.
import { ExpressionError } from './expression-error.js';
import { memoize } from './memoize.js';
import { children, isNode, parseExpression, pathOf, type Node, type Path, type Root } from './syntax.js';
import { templateExpressions } from './template-text.js';
import type { JsonValue } from '../core/json.js';

export interface Reference {
  root: Root;
  /** Step id, or name of the param, variable, secret, or member; undefined when the root itself is read. */
  name?: string;
  /** Of a step: what of it is read; undefined when the step itself is. */
  member?: 'outputs' | 'result' | 'status';
  output?: string;
  guarded: boolean;
  /** Where the reference stands in the text that was asked about, and how long it is. */
  offset: number;
  length: number;
}

/** A reference with what the compiler needs of it: how many names belong to it, and whether only its presence is asked. */
export interface FoundReference extends Reference {
  names: string[];
  form: 'value' | 'presence' | 'optional';
  /** The node that the reference replaces. */
  node: Node;
}

/** References of an expression, in the order of the text. ExpressionError when it does not parse. */
export const referencesOf: (expression: string) => Reference[] = memoize((expression) => findReferences(parseExpression(expression)));

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
      if (item.includes('${{')) found.push(...referencesOfTemplate(item));
    } else if (Array.isArray(item)) {
      for (let i = item.length - 1; i >= 0; i -= 1) stack.push(item[i] as JsonValue);
    } else if (item !== null && typeof item === 'object') {
      stack.push(...Object.values(item).reverse());
    }
  }
  return found;
}

type Guards = ReadonlySet<string>;
const NO_GUARDS: Guards = new Set();

/** All references in a tree. */
export function findReferences(root: Node): FoundReference[] {
  const found: FoundReference[] = [];
  visit(root, NO_GUARDS, new Set(), found);
  return found.sort((a, b) => a.offset - b.offset);
}

const MACROS = new Set(['map', 'filter', 'all', 'exists', 'exists_one']);

function visit(node: Node, guards: Guards, bound: ReadonlySet<string>, found: FoundReference[]): void {
  const args = Array.isArray(node.args) ? (node.args as unknown[]) : [];
  if (node.op === 'call' && args[0] === 'has') {
    const asked = (args[1] as unknown[] | undefined)?.[0];
    const path = isNode(asked) ? pathOf(asked, bound) : undefined;
    if (path !== undefined && path.names.length > 0) {
      found.push(reference(path, node, 'presence', true));
      return;
    }
  }
  if (node.op === '.?' || node.op === '[?]') {
    const [object, key] = args;
    const name = typeof key === 'string' ? key : isNode(key) && typeof key.args === 'string' ? key.args : undefined;
    const path = isNode(object) ? pathOf(object, bound) : undefined;
    if (path !== undefined) {
      // The base is read as a map that may lack the name; the name itself is still checked against the plan.
      const whole = reference(path, path.ends.at(-1) as Node, 'optional', true);
      found.push(name === undefined ? whole : named(whole, name));
      if (isNode(key)) visit(key, guards, bound, found);
      return;
    }
  }
  const path = pathOf(node, bound);
  if (path !== undefined) {
    found.push(reference(path, undefined, 'value', isGuarded(path, guards)));
    return;
  }
  if (node.op === '?:' || node.op === '&&' || node.op === '||') {
    const [first, second, third] = args as [Node, Node, Node | undefined];
    visit(first, guards, bound, found);
    const after = node.op === '||' ? opened(first, false, bound) : opened(first, true, bound);
    visit(second, union(guards, after), bound, found);
    if (third !== undefined) visit(third, union(guards, opened(first, false, bound)), bound, found);
    return;
  }
  const inner = node.op === 'rcall' && MACROS.has(args[0] as string) ? withVariable(args, bound) : bound;
  for (const child of children(node)) visit(child, guards, inner, found);
}

function withVariable(args: unknown[], bound: ReadonlySet<string>): ReadonlySet<string> {
  const variable = (args[2] as unknown[] | undefined)?.[0];
  return isNode(variable) && variable.op === 'id' ? new Set([...bound, variable.args as string]) : bound;
}

/** Paths that are certainly there when a condition is `truth`. */
function opened(condition: Node, truth: boolean, bound: ReadonlySet<string>): Guards {
  const args = Array.isArray(condition.args) ? (condition.args as unknown[]) : [];
  if (condition.op === '!_' && isNode(condition.args)) return opened(condition.args, !truth, bound);
  if (condition.op === '!_' && isNode(args[0])) return opened(args[0], !truth, bound);
  if ((condition.op === '&&' && truth) || (condition.op === '||' && !truth)) {
    return union(opened(args[0] as Node, truth, bound), opened(args[1] as Node, truth, bound));
  }
  if (condition.op === 'call' && args[0] === 'has' && truth) {
    const asked = (args[1] as unknown[])[0];
    const path = isNode(asked) ? pathOf(asked, bound) : undefined;
    return path === undefined ? NO_GUARDS : new Set([keyOf(path.root, path.names)]);
  }
  if ((condition.op === '==' && truth) || (condition.op === '!=' && !truth)) {
    const [left, right] = args as [Node, Node];
    const [side, word] = left.op === 'value' ? [right, left] : [left, right];
    const path = word.op === 'value' && word.args === 'completed' ? pathOf(side, bound) : undefined;
    if (path?.root === 'steps' && path.names[1] === 'status') return new Set([keyOf('steps', [path.names[0] as string])]);
  }
  return NO_GUARDS;
}

function union(a: Guards, b: Guards): Guards {
  return b.size === 0 ? a : a.size === 0 ? b : new Set([...a, ...b]);
}

function keyOf(root: string, names: readonly string[]): string {
  return JSON.stringify([root, ...names]);
}

// A path is guarded by has() of itself, of a path below it, or by its step having completed.
function isGuarded(path: Path, guards: Guards): boolean {
  if (guards.size === 0) return false;
  for (let length = 1; length <= path.names.length; length += 1) {
    if ((length > 1 || path.root === 'steps') && guards.has(keyOf(path.root, path.names.slice(0, length)))) return true;
    if (length === 1 && path.root === 'env' && guards.has(keyOf('env', path.names.slice(0, 1)))) return true;
  }
  const own = keyOf(path.root, path.names).slice(0, -1);
  for (const guard of guards) if (guard.startsWith(`${own},`)) return true;
  return false;
}

/** How many names of a path belong to the reference; what follows is read from its value. */
function ownNames(path: Path): number {
  if (path.root !== 'steps') return Math.min(1, path.names.length);
  return Math.min(path.names[1] === 'outputs' ? 3 : 2, path.names.length);
}

function reference(path: Path, node: Node | undefined, form: FoundReference['form'], guarded: boolean): FoundReference {
  const own = form === 'value' ? ownNames(path) : path.names.length;
  const names = path.names.slice(0, own);
  const place = node ?? (path.ends[own] as Node);
  const shownAt = form === 'presence' ? (path.ends.at(-1) as Node) : place;
  const base: FoundReference = { root: path.root, guarded, offset: shownAt.start, length: shownAt.end - shownAt.start, names, form, node: place };
  return names.reduce((result, name) => named(result, name), base);
}

function named(reference_: FoundReference, name: string): FoundReference {
  if (reference_.name === undefined) return { ...reference_, name };
  if (reference_.root !== 'steps') return reference_;
  if (reference_.member === undefined) {
    if (name === 'outputs' || name === 'result' || name === 'status') return { ...reference_, member: name };
    const place = { offset: reference_.offset, length: reference_.length };
    throw new ExpressionError(`a step has no "${name}"; it has status, outputs and result`, '', place);
  }
  return reference_.member === 'outputs' && reference_.output === undefined ? { ...reference_, output: name } : reference_;
}
