// YAML text to a tree of nodes: one document, YAML 1.2 core. What the `yaml` package reports becomes at most one
// fault: after the first syntax error the rest is guesswork.
import { Composer, isAlias, isCollection, isScalar, Lexer, Parser, visit, type Alias, type CST, type Document, type Node } from 'yaml';
import type { ProblemCode } from './problem-code.js';

export interface SyntaxFault {
  code: ProblemCode;
  message: string;
  hint?: string;
  start: number;
  end: number;
}

export interface YamlTree {
  root: Node | null;
  /** The node that an alias stands for; undefined when no anchor before it has that name. */
  target(alias: Alias): Node | undefined;
}

export const MAX_DEPTH = 64;

// Collections that may be open at once while parsing. The reader has the exact limit; this one keeps the recursive
// parts of the `yaml` package away from the end of the stack, where a regular expression ends the whole process.
const MAX_OPEN = 2 * MAX_DEPTH + 8;

/** Parses one YAML document. The nodes carry offsets into `text` (their `range`). */
export function parseYaml(text: string): { tree: YamlTree } | { fault: SyntaxFault } {
  try {
    return treeOf(text);
  } catch (error) {
    if (error instanceof TooDeep) {
      return { fault: { code: 'too_deep', message: `expected at most ${MAX_DEPTH} levels of nesting, found more`, start: error.offset, end: error.offset + 1 } };
    }
    throw error;
  }
}

class TooDeep extends Error {
  readonly offset: number;
  constructor(offset: number) {
    super('too deep');
    this.offset = offset;
  }
}

function* boundedTokens(text: string): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_OPEN) throw new TooDeep(Math.min(parser.offset, text.length) - 1);
  }
  yield* parser.end();
}

function treeOf(text: string): { tree: YamlTree } | { fault: SyntaxFault } {
  // Repeated keys are found by the reader: here every key would be compared with every other.
  const composer = new Composer({ version: '1.2', schema: 'core', uniqueKeys: false, merge: false });
  let document: Document.Parsed | undefined;
  for (const next of composer.compose(boundedTokens(text), true, text.length)) {
    if (document === undefined) document = next as Document.Parsed;
    else {
      const start = next.range[0];
      return { fault: { code: 'second_document', message: 'expected one YAML document, found a second one', hint: 'put each plan in its own file', start, end: start + 3 } };
    }
  }
  if (document === undefined) return { tree: { root: null, target: () => undefined } };
  if (document.directives.yaml.explicit === true && document.directives.yaml.version !== '1.2') {
    const start = Math.max(0, text.indexOf('%YAML'));
    return { fault: { code: 'yaml_version', message: `expected YAML 1.2, found the directive %YAML ${document.directives.yaml.version}`, hint: 'remove the directive', start, end: start + 5 } };
  }
  const error = document.errors[0];
  if (error !== undefined) return { fault: openQuote(document, text, error.code, error.pos) ?? bareBraces(text, error.pos) ?? syntaxFault(error.code, error.message, error.pos) };
  return { tree: { root: document.contents, target: aliasTargets(document) } };
}

// A quote that is not closed takes in all up to the next one, or to the end: it is told where it opens.
function openQuote(document: Document.Parsed, text: string, code: string, [at]: [number, number]): SyntaxFault | undefined {
  let open: number | undefined;
  visit(document, {
    Scalar(_key, { type, range }) {
      if (range === undefined || range === null || (type !== 'QUOTE_DOUBLE' && type !== 'QUOTE_SINGLE')) return;
      const [start, end] = range;
      const behind = end <= at && text.slice(end, at).trim() === '';
      if (code === 'MISSING_CHAR' ? start < at && end >= at - 1 : behind && text.slice(start, end).includes('\n')) open ??= start;
    },
  });
  if (open === undefined) return undefined;
  return { code: 'yaml_syntax', message: `not YAML: the quote that opens here is not closed in its line`, hint: `close it: ${text[open] as string}…${text[open] as string}`, start: open, end: open + 1 };
}

// `[echo, ${{ x }}]`: inside of brackets a brace begins a mapping.
function bareBraces(text: string, [at]: [number, number]): SyntaxFault | undefined {
  const begin = Math.max(text.lastIndexOf('\n', at - 1) + 1, at - 200);
  const open = text.slice(begin, at + 3).lastIndexOf('${{');
  if (open === -1) return undefined;
  const start = begin + open;
  const close = text.indexOf('}}', start);
  const end = close === -1 || text.slice(start, close).includes('\n') ? start + 3 : close + 2;
  return { code: 'yaml_syntax', message: 'not YAML: inside of [ ] and { }, a text with ${{ }} needs quotes', hint: `put quotes: "${text.slice(start, end)}"`, start, end };
}

function syntaxFault(code: string, message: string, [start, end]: [number, number]): SyntaxFault {
  const hint = code === 'TAB_AS_INDENT' || /\btabs?\b/i.test(message) ? 'indent with spaces' : code === 'BAD_ALIAS' ? undefined : hintFor(code);
  return { code: 'yaml_syntax', message: `not YAML: ${firstLine(message)}`, ...(hint === undefined ? {} : { hint }), start, end: Math.max(end, start + 1) };
}

function hintFor(code: string): string | undefined {
  switch (code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
      return 'a text with ": " in it needs quotes, or a block ("|")';
    case 'MISSING_CHAR':
      return 'close the quote or bracket that is open here, or put quotes around a text with ",", brackets or braces in it';
    case 'UNEXPECTED_TOKEN':
      return 'put quotes around a text with brackets or braces in it';
    case 'BAD_INDENT':
      return 'keys of one mapping begin in the same column';
    default:
      return undefined;
  }
}

const firstLine = (message: string) => (message.split('\n')[0] as string).replace(/:$/, '');

// An anchor may be set again further down: an alias means the last one before it.
function aliasTargets(document: Document.Parsed): (alias: Alias) => Node | undefined {
  let targets: Map<Alias, Node> | undefined;
  return (alias) => {
    if (targets === undefined) {
      targets = new Map();
      const anchors = new Map<string, Node>();
      const found = targets;
      visit(document, {
        Node(_key, node) {
          if (isAlias(node)) {
            const target = anchors.get(node.source);
            if (target !== undefined) found.set(node, target);
          } else if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) anchors.set(node.anchor, node);
        },
      });
    }
    return targets.get(alias);
  };
}
