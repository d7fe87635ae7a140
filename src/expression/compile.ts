// Compiles an expression: every reference becomes a variable of a known type. The variable is written over the reference,
// padded to its length, so that offsets of the library's errors are offsets of the user's text.
import { celEnvironment, LINEAR_MATCHES, MOST_REFERENCES, type VariableLetter } from './cel.js';
import { ExpressionError, shown } from './expression-error.js';
import { findReferences, type FoundReference } from './references.js';
import { children, isNode, libraryError, parseExpression, type Node } from './syntax.js';

export interface Compiled {
  /** The references in the order of their variables. */
  references: ReadonlyArray<FoundReference & { variable: string }>;
  run(values: { [variable: string]: unknown }): unknown;
  /** CEL type of the result as far as it is known, such as `double` or `dyn`. */
  check(): { type: string } | { error: ExpressionError };
  /** An error of the library in the user's words. */
  explain(error: unknown): ExpressionError;
}

/**
 * @param letterOf type of the value of a reference; `x` where nothing is known
 * @throws ExpressionError when the text does not parse
 */
export function compileExpression(text: string, letterOf: (reference: FoundReference) => VariableLetter): Compiled {
  const tree = parseExpression(text);
  const found = findReferences(tree);
  if (found.length > MOST_REFERENCES) throw new ExpressionError(`an expression may refer to at most ${MOST_REFERENCES} values`, text);
  const named = found.map((reference, i) => ({ ...reference, variable: `${reference.form === 'presence' ? 'b' : letterOf(reference)}${i}` }));
  const rewritten = named.reduce((current, { node, variable }) => overwrite(current, text, node, variable), linearMatches(text, tree));
  const restore = (message: string) =>
    named.reduce((m, { variable, node }) => m.replaceAll(new RegExp(`\\b${variable}\\b`, 'g'), () => text.slice(node.start, node.end)), message).replaceAll(LINEAR_MATCHES, 'matches');
  const explain = (error: unknown) => (error instanceof ExpressionError ? error : libraryError(error, text, restore));
  let program: ReturnType<ReturnType<typeof celEnvironment>['parse']>;
  try {
    program = celEnvironment().parse(rewritten);
  } catch (error) {
    throw explain(error);
  }
  decimalLiterals(program.ast as unknown as Node);
  return {
    references: named,
    run: (values) => program(values),
    check() {
      const result = program.check();
      if (result.valid) return { type: String(result.type) };
      return { error: explain(result.error ?? new Error(`${shown(text)} has no valid type`)) };
    },
    explain,
  };
}

// Writes a variable over a reference. A node inside parentheses ends behind them: those stay.
function overwrite(current: string, text: string, node: Node, variable: string): string {
  const slice = text.slice(node.start, node.end);
  const kept = node.op === 'call' ? '' : slice.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, '').replace(/[^)]/g, '');
  return current.slice(0, node.start) + (variable + kept).padEnd(slice.length) + current.slice(node.end);
}

// `x.matches(p)` calls the linear form, a name as long as the one it replaces.
function linearMatches(text: string, tree: Node): string {
  let result = text;
  const stack: Node[] = [tree];
  while (stack.length > 0) {
    const node = stack.pop() as Node;
    const args = Array.isArray(node.args) ? (node.args as unknown[]) : [];
    if (node.op === 'rcall' && args[0] === 'matches' && isNode(args[1])) {
      const at = text.indexOf('matches', args[1].end);
      if (at !== -1) result = result.slice(0, at) + LINEAR_MATCHES + result.slice(at + LINEAR_MATCHES.length);
    }
    stack.push(...children(node));
  }
  return result;
}

// C1 of cel.ts: an integer literal is a number like any other, unless it is an index, where the library wants an integer.
function decimalLiterals(tree: Node): void {
  const stack: Node[] = [tree];
  while (stack.length > 0) {
    const node = stack.pop() as Node;
    if (node.op === 'value' && typeof node.args === 'bigint') {
      const number = Number(node.args);
      if (!Number.isSafeInteger(number)) throw new ExpressionError(`the integer ${node.args} is too large: numbers are exact to 9007199254740991`, '', { offset: node.start, length: node.end - node.start });
      node.args = number;
    } else {
      const [object, key] = Array.isArray(node.args) ? (node.args as unknown[]) : [];
      const isIndex = (node.op === '[]' || node.op === '[?]') && isNode(object) && isNode(key) && key.op === 'value';
      stack.push(...(isIndex ? [object] : children(node)));
    }
  }
}
