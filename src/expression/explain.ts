// What the library says of types and values, in words for people who write plans.
import type { Node } from './syntax.js';

export interface Explanation {
  message: string;
  hint?: string;
}

/** @param node the node of the user's text where it happened; @param slice its text */
export function explain(error: unknown, node: Node | undefined, slice: string | undefined): Explanation {
  if (error instanceof RangeError) return { message: 'the expression is nested too deeply' };
  const { code, summary } = error as { code?: string; summary?: string };
  const text = summary ?? (error instanceof Error ? (error.message.split('\n')[0] as string) : String(error));
  switch (code) {
    case 'no_such_overload':
      return overload(text);
    case 'no_matching_overload':
      return call(text);
    case 'invalid_logical_operand':
      return { message: `"&&" and "||" take true or false, not ${word(inQuotes(text))}`, hint: 'compare it: … == "value", … > 0' };
    case 'invalid_condition_type':
      return { message: `${node?.op === '?:' || !text.includes('predicate') ? 'what stands before "?"' : 'the condition of a loop'} must be true or false, not ${word(inQuotes(text))}` };
    case 'cannot_index_type':
      return { message: `${word(inQuotes(text))} has no members${slice === undefined ? '' : `: ${slice}`}` };
    case 'no_such_key':
      return { message: slice === undefined ? text : `${slice} is absent` };
    case 'index_out_of_bounds': {
      const [, index, size] = /index (-?\d+) (?:< 0|>= size (\d+))/.exec(text) ?? [];
      return { message: `${slice ?? 'the list'} is absent: ${size === undefined ? 'an index begins at 0' : `index ${index as string} of ${size} items`}` };
    }
    case 'limit_exceeded':
      return { message: 'the expression is too large' };
    case 'invalid_comprehension_range':
      return { message: 'a loop goes over an array or the keys of an object, not over this' };
    case 'variable_type_mismatch':
    case 'unsupported_type':
      return { message: 'a value here is of no type that expressions know' };
    default:
      return { message: text };
  }
}

const NUMBER_AND_TEXT = /^(?:number|text) and (?:number|text)$/;

function overload(text: string): Explanation {
  const unary = /^no such overload: ([!-])(\S.*)$/.exec(text);
  if (unary !== null) return { message: `"${unary[1] as string}" takes ${unary[1] === '!' ? 'true or false' : 'a number'}, not ${word(unary[2] as string)}` };
  const [, left = '', operator = '', right = ''] = /^no such overload: (.+?) (==|!=|<=|>=|<|>|in|\+|-|\*|\/|%) (.+)$/.exec(text) ?? [];
  const pair = `${word(left)} and ${word(right)}`;
  const mixed = pair !== 'number and number' && pair !== 'text and text' && NUMBER_AND_TEXT.test(pair);
  if (operator === 'in') return { message: `"in" looks in an array, or for a key in an object; it cannot look for ${word(left)} in ${word(right)}`, ...(word(right) === 'text' ? { hint: 'write text.contains(part)' } : {}) };
  const verb = ['==', '!=', '<', '<=', '>', '>='].includes(operator) ? 'compare' : 'be used on';
  const hint = !mixed ? undefined : operator === '+' ? 'make text of the number with string(…), or write the text around ${{ }}' : 'make a number of the text with double(…), or text of the number with string(…)';
  return { message: verb === 'compare' ? `"${operator}" cannot compare ${pair}` : `"${operator}" cannot be used on ${pair}`, ...(hint === undefined ? {} : { hint }) };
}

function call(text: string): Explanation {
  const [, target = '', args = ''] = /^found no matching overload for '(.+)\((.*)\)'$/.exec(text) ?? [];
  const at = target.lastIndexOf('.');
  const name = target.slice(at + 1).replace(/^_/, '');
  const words = typesOf(args).map(word);
  if (target === '_index') return { message: `an index is a whole number, or the name of a member, not ${words.join(', ')}` };
  if (target === '_key') return { message: `the keys of an object are text, not ${words.join(', ')}`, hint: 'put the key in quotes' };
  if (['_n', '_exact', '_finite'].includes(target)) return { message: `a number is needed here, not ${words.join(', ')}` };
  const behind = words.length === 0 ? '' : ` with ${words.join(', ')}`;
  return { message: at === -1 ? `${name}() does not take ${words.join(', ')}` : `${name}() cannot be used on ${word(target.slice(0, at))}${behind}` };
}

// `list<dyn>, map<string, dyn>` is two types.
function typesOf(args: string): string[] {
  const types: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i <= args.length; i += 1) {
    if (args[i] === '<') depth += 1;
    else if (args[i] === '>') depth -= 1;
    else if (i === args.length || (args[i] === ',' && depth === 0)) {
      if (i > from) types.push(args.slice(from, i).trim());
      from = i + 1;
    }
  }
  return types;
}

function inQuotes(text: string): string {
  return /'([^']+)'[^']*$/.exec(text)?.[1] ?? 'this';
}

/** A type of the library in the words of JSON. */
export function word(type: string): string {
  const inner = /^dyn<(.+)>$/.exec(type)?.[1];
  if (inner !== undefined) return word(inner);
  if (type.startsWith('list')) return 'array';
  if (type.startsWith('map')) return 'object';
  if (type.startsWith('optional')) return 'a value that may be absent';
  if (type.startsWith('google.protobuf.')) return type === 'google.protobuf.Timestamp' ? 'time' : 'duration';
  switch (type) {
    case 'string':
      return 'text';
    case 'double':
    case 'int':
      return 'number';
    case 'bool':
      return 'boolean';
    case 'null_type':
      return 'null';
    case 'dyn':
      return 'any value';
    default:
      return type;
  }
}
