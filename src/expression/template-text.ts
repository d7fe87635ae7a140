// Where the `${{ }}` parts of a text are. `$${{` stands for a literal `${{`. An expression may hold `}}` inside a string
// literal, and the braces of maps.
import { ExpressionError } from './expression-error.js';
import { memoize } from './memoize.js';

export type TemplatePart = { text: string } | { expression: string; offset: number };

export interface ParsedTemplate {
  parts: readonly TemplatePart[];
  /** The expression, when the text is that and nothing else: its value keeps its type. */
  whole?: string;
}

/** Takes a template apart. ExpressionError with the place when a `${{` is not closed or has nothing in it. */
export const parseTemplate: (text: string) => ParsedTemplate = memoize((text) => {
  const parts: TemplatePart[] = [];
  let literal = '';
  let at = 0;
  for (let open = text.indexOf('${{'); open !== -1; open = text.indexOf('${{', at)) {
    if (open > at && text[open - 1] === '$') {
      literal += `${text.slice(at, open - 1)}\${{`;
      at = open + 3;
      continue;
    }
    literal += text.slice(at, open);
    if (literal !== '') parts.push({ text: literal });
    literal = '';
    const close = closeOf(text, open);
    const inner = text.slice(open + 3, close);
    if (inner.trim() === '') throw new ExpressionError('there is no expression between ${{ and }}', text, { offset: open, length: close + 2 - open });
    parts.push({ expression: inner.trim(), offset: open + 3 + inner.length - inner.trimStart().length });
    at = close + 2;
  }
  literal += text.slice(at);
  if (literal !== '') parts.push({ text: literal });
  const [only] = parts;
  return parts.length === 1 && only !== undefined && 'expression' in only ? { parts, whole: only.expression } : { parts };
});

/** The expressions of a text with their offsets. */
export function templateExpressions(text: string): Array<{ expression: string; offset: number }> {
  if (!text.includes('${{')) return [];
  return parseTemplate(text).parts.flatMap((part) => ('expression' in part ? [part] : []));
}

/** A template that gives the text as it is. */
export function literalTemplate(text: string): string {
  return text.replaceAll('${{', () => '$${{');
}

// Index of the `}}` that ends the expression begun at `open`: outside of strings, and not the end of a map.
function closeOf(text: string, open: number): number {
  let depth = 0;
  for (let i = open + 3; i < text.length; i += 1) {
    const c = text[i];
    if (c === '"' || c === "'") {
      const end = endOfString(text, i);
      if (end === -1) throw new ExpressionError('a string in this expression is not closed', text, { offset: i, length: 1 });
      i = end;
    } else if (c === '{') depth += 1;
    else if (c === '}' && depth > 0) depth -= 1;
    else if (c === '}' && text[i + 1] === '}') return i;
    else if (c === '/' && text[i + 1] === '/') {
      // A comment ends with its line, or with the expression.
      while (i + 1 < text.length && text[i + 1] !== '\n' && !text.startsWith('}}', i + 1)) i += 1;
      depth = text[i + 1] === '}' ? 0 : depth;
    }
  }
  throw new ExpressionError('this ${{ is not closed by }}', text, { offset: open, length: 3 }, 'write }} behind the expression');
}

// Index of the last character of the string that begins at `start`, by the rules of the library's lexer.
function endOfString(text: string, start: number): number {
  const quote = text[start] as string;
  const end = text.startsWith(quote.repeat(3), start) ? quote.repeat(3) : quote;
  for (let i = start + end.length; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text.startsWith(end, i)) return i + end.length - 1;
    else if (end.length === 1 && text[i] === '\n') return -1;
  }
  return -1;
}
