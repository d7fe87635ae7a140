// The syntax tree of an expression as the library gives it, and the chains of names in it that read a plan's values.
import { Environment } from '@marcbachmann/cel-js';
import { ExpressionError } from './expression-error.js';
import { memoize } from './memoize.js';
import { syntaxError } from './syntax-error.js';

/** A node of the library's tree; offsets are into the text of the expression. It is never changed. */
export interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly start: number;
  readonly end: number;
}

export const ROOTS = ['steps', 'params', 'env', 'secrets', 'session', 'plan'] as const;
export type Root = (typeof ROOTS)[number];

const LONGEST_EXPRESSION = 20_000;
const LIMITS = { maxAstNodes: 2000, maxDepth: 100, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 };

let parser: Environment | undefined;

/** Parses an expression. ExpressionError with the place; also for one that is too long, too large or too deep. */
export const parseExpression: (text: string) => Node = memoize((text) => {
  if (text.length > LONGEST_EXPRESSION) throw new ExpressionError(`an expression may have at most ${LONGEST_EXPRESSION} characters, this one has ${text.length}`, text);
  if (text.trim() === '') throw new ExpressionError('the expression is empty', text, { offset: 0, length: text.length });
  parser ??= new Environment({ enableOptionalTypes: true, limits: LIMITS });
  try {
    return parser.parse(text).ast as unknown as Node;
  } catch (error) {
    throw syntaxError(error, text);
  }
});

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).op === 'string' && typeof (value as Node).start === 'number';
}

/** The nodes among the arguments of a node, at any depth of lists. */
export function children(node: Node): Node[] {
  const found: Node[] = [];
  const stack: unknown[] = [node.args];
  while (stack.length > 0) {
    const item = stack.pop();
    if (isNode(item)) found.push(item);
    else if (Array.isArray(item)) for (let i = item.length - 1; i >= 0; i -= 1) stack.push(item[i]);
  }
  return found;
}

/** `f(a, b)` or `x.f(a, b)`; undefined for any other node. */
export function callOf(node: Node): { name: string; receiver?: Node; args: readonly Node[] } | undefined {
  if (node.op === 'call') {
    const [name, args] = node.args as [string, Node[]];
    return { name, args };
  }
  if (node.op === 'rcall') {
    const [name, receiver, args] = node.args as [string, Node, Node[]];
    return { name, receiver, args };
  }
  return undefined;
}

/** One step of a chain: `.key`, `["key"]`, `[expression]`, and the same with `?`. */
export interface Link {
  key: string | Node;
  optional: boolean;
  /** The node that ends with this link. */
  node: Node;
}

/** What an access node reads, and by which key; undefined for any other node. */
export function linkOf(node: Node): { object: Node; link: Link } | undefined {
  if (node.op === '.' || node.op === '.?') {
    const [object, key] = node.args as [Node, string];
    return { object, link: { key, optional: node.op === '.?', node } };
  }
  if (node.op === '[]' || node.op === '[?]') {
    const [object, key] = node.args as [Node, Node];
    return { object, link: { key: key.op === 'value' && typeof key.args === 'string' ? key.args : key, optional: node.op === '[?]', node } };
  }
  return undefined;
}

/** A chain that begins at a root, such as `steps.a.outputs.x`. */
export interface Chain {
  root: Root;
  rootNode: Node;
  links: Link[];
  /** Keys that are known names, up to the first that is not. */
  names: string[];
}

/** The chain that a node is; undefined when it does not begin at a root. */
export function chainOf(node: Node, bound: ReadonlySet<string>): Chain | undefined {
  const links: Link[] = [];
  let at = node;
  for (;;) {
    const access = linkOf(at);
    if (access === undefined) break;
    links.push(access.link);
    at = access.object;
  }
  if (at.op !== 'id' || bound.has(at.args as string) || !(ROOTS as readonly unknown[]).includes(at.args)) return undefined;
  links.reverse();
  const names: string[] = [];
  for (const { key } of links) {
    if (typeof key !== 'string') break;
    names.push(key);
  }
  return { root: at.args as Root, rootNode: at, links, names };
}
