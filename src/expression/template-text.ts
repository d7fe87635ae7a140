// Where the `${{ }}` parts of a text are. `$${{` is a literal `${{`. An expression may hold `}}` inside a string
// literal, and braces of maps.
import { ExpressionError } from './expression-error.js';
import { memoize } from './memoize.js';

export type TemplatePart = { text: string } | { expression: string; offset: number };

export interface ParsedTemplate {
  parts: readonly TemplatePart[];
  /** True when the text is one expression and nothing else: its value keeps its type. */
  whole: boolean;
}

/** Takes a template apart. ExpressionError when a `${{` is not closed. */
export const parseTemplate: (text: string) => ParsedTemplate = memoize((text) => {
  const parts: TemplatePart[] = [];
  let literal = '';
  let at = 0;
  for (;;) {
    const open = text.indexOf('${{', at);
    if (open === -1) break;
    if (text[open - 1] === '$' && open > at) {
      literal += `${text.slice(at, open - 1)}\${{`;
      at = open + 3;
      continue;
    }
    literal += text.slice(at, open);
    if (literal !== '') parts.push({ text: literal });
    literal = '';
    const close = closeOf(text, open + 3);
    if (close === -1) throw new ExpressionError('this ${{ is not closed by }}', text, { offset: open, length: 3 });
    const inner = text.slice(open + 3, close);
    const lead = inner.length - inner.trimStart().length;
    parts.push({ expression: inner.trim(), offset: open + 3 + lead });
    at = close + 2;
  }
  literal += text.slice(at);
  if (literal !== '') parts.push({ text: literal });
  const spaceOnly = parts.filter((part) => !('text' in part && part.text.trim() === ''));
  const whole = spaceOnly.length === 1 && 'expression' in (spaceOnly[0] as TemplatePart) && parts.length === 1;
  return { parts, whole };
});

/** The expressions of a text with their offsets. */
export function templateExpressions(text: string): Array<{ expression: string; offset: number }> {
  return parseTemplate(text).parts.flatMap((part) => ('expression' in part ? [part] : []));
}

// The `}}` that ends an expression: outside of strings, and not the end of a map.
function closeOf(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i += 1) {
    const c = text[i];
    if (c === '"' || c === "'") i = endOfString(text, i);
    else if (c === '{') depth += 1;
    else if (c === '}') {
      if (depth > 0) depth -= 1;
      else if (text[i + 1] === '}') return i;
    }
  }
  return -1;
}

// Index of the closing quote of a string that begins at `start`; the end of the text when it has none.
function endOfString(text: string, start: number): number {
  const quote = text[start] as string;
  const raw = /[rR]/.test(text[start - 1] ?? '');
  const triple = text.startsWith(quote.repeat(3), start);
  const end = triple ? quote.repeat(3) : quote;
  for (let i = start + end.length; i < text.length; i += 1) {
    if (!raw && text[i] === '\\') i += 1;
    else if (text.startsWith(end, i)) return i + end.length - 1;
  }
  return text.length;
}
