// What the library's parser says, in words for people who write plans.
import { ExpressionError } from './expression-error.js';

const TOKENS: { [token: string]: string } = {
  EOF: 'the end',
  NUMBER: 'a number',
  STRING: 'text',
  BYTES: 'bytes',
  BOOLEAN: 'true or false',
  NULL: 'null',
  IDENTIFIER: 'a name',
  LPAREN: '"("',
  RPAREN: '")"',
  LBRACKET: '"["',
  RBRACKET: '"]"',
  LBRACE: '"{"',
  RBRACE: '"}"',
  DOT: '"."',
  COMMA: '","',
  COLON: '":"',
  QUESTION: '"?"',
};

const INSTEAD: { [written: string]: string } = { and: '&&', or: '||', not: '!', '&': '&&', '|': '||', '=': '==' };

/** A ParseError of the library as ours. */
export function syntaxError(error: unknown, text: string): ExpressionError {
  if (error instanceof RangeError) return new ExpressionError('the expression is nested too deeply', text);
  const { code, range, summary } = error as { code?: string; range?: { start: number; end: number }; summary?: string };
  if (range === undefined || summary === undefined) return new ExpressionError(error instanceof Error ? error.message : String(error), text);
  const offset = Math.min(range.start, text.length);
  const place = { offset, length: Math.max(1, range.end - offset) };
  const found = text.slice(offset, range.end);
  const hint = /^=~|^~=|^~/.test(text.slice(offset)) ? 'write x.matches("pattern")' : text.startsWith('<>', offset - 1) ? 'write !=' : INSTEAD[found] !== undefined ? `write ${INSTEAD[found]}` : text.includes('${{') ? 'one ${{ }} stands around the whole expression' : /^\s*(?:\$\s?)?\{/.test(text) ? 'write the expression alone, or in ${{ }}' : found === '$' ? 'names have no "$" here: params.x, env.X' : hintBeside(text, offset);
  return new ExpressionError(messageOf(code, summary, found), text, place, hint);
}

function messageOf(code: string | undefined, summary: string, found: string): string {
  switch (code) {
    case 'unexpected_character':
      return `unexpected ${JSON.stringify(found)}`;
    case 'unexpected_token':
    case 'expected_token': {
      const words = summary.replace(/\b[A-Z]{2,}\b/g, (token) => TOKENS[token] ?? JSON.stringify(found === '' ? token : found));
      return words.replace('Unexpected token:', 'unexpected').replace('Expected', 'expected');
    }
    case 'invalid_macro_argument':
      return `the first argument of ${/^\w+/.exec(summary)?.[0] ?? 'a loop'}() names a variable`;
    case 'limit_exceeded':
      return summary.includes('maxDepth') ? 'the expression is nested too deeply' : `the expression is too large: ${summary.replace('Exceeded ', '')}`;
    default:
      return summary.charAt(0).toLowerCase() + summary.slice(1);
  }
}

// `a and b` fails at the `b` behind a name, or at the word itself.
function hintBeside(text: string, offset: number): string | undefined {
  const word = /(?:^|\s)(and|or|not)\s+$/.exec(text.slice(0, offset))?.[1];
  if (word !== undefined) return `write ${INSTEAD[word] as string}`;
  return text[offset] === '.' && text[offset - 1] === '?' ? 'optional members are written .?name' : undefined;
}
