// The syntax tree of an expression as the library gives it, and the paths in it that read a plan's values.
import { celEnvironment } from './cel.js';
import { ExpressionError, shown } from './expression-error.js';

/** A node of the library's tree; offsets are into the text of the expression. */
export interface Node {
  op: string;
  args: unknown;
  start: number;
  end: number;
}

export const ROOTS = ['steps', 'params', 'env', 'secrets', 'session', 'plan'] as const;
export type Root = (typeof ROOTS)[number];

const LONGEST_EXPRESSION = 20_000;

/** Parses an expression. ExpressionError with the place. */
export function parseExpression(text: string): Node {
  if (text.length > LONGEST_EXPRESSION) throw new ExpressionError(`an expression may have at most ${LONGEST_EXPRESSION} characters, this one has ${text.length}`, text);
  if (text.trim() === '') throw new ExpressionError('the expression is empty', text);
  try {
    return celEnvironment().parse(text).ast as unknown as Node;
  } catch (error) {
    throw libraryError(error, text);
  }
}

/** An error of the library as ours: its first line, and the place that it names. */
export function libraryError(error: unknown, text: string, restore: (message: string) => string = (message) => message): ExpressionError {
  const message = restore((error instanceof Error ? error.message : String(error)).split('\n')[0] as string);
  const range = (error as { range?: { start: number; end: number } }).range;
  return new ExpressionError(
    `${message} in: ${shown(text)}`,
    text,
    range === undefined ? undefined : { offset: Math.min(range.start, text.length), length: Math.max(1, range.end - range.start) },
  );
}

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

/** A path such as `steps.a.outputs.x`: its root and the names after it, with the node that ends each name. */
export interface Path {
  root: Root;
  names: string[];
  /** `ends[0]` is the root's own node, `ends[i]` the node that has the first i names. */
  ends: Node[];
}

/** The longest plain path (`.name`, `["name"]`) that a node is; undefined when it does not begin at a root. */
export function pathOf(node: Node, bound: ReadonlySet<string>): Path | undefined {
  const ends: Node[] = [];
  const names: string[] = [];
  let at: Node = node;
  for (;;) {
    ends.unshift(at);
    if (at.op === 'id') {
      const root = at.args as string;
      return (ROOTS as readonly string[]).includes(root) && !bound.has(root) ? { root: root as Root, names, ends } : undefined;
    }
    const [object, key] = Array.isArray(at.args) ? (at.args as unknown[]) : [];
    if (!isNode(object)) return undefined;
    if (at.op === '.' && typeof key === 'string') names.unshift(key);
    else if (at.op === '[]' && isNode(key) && key.op === 'value' && typeof key.args === 'string') names.unshift(key.args);
    else return undefined;
    at = object;
  }
}
