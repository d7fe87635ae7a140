// The environment of the CEL library that all expressions share: its own functions (functions.ts says which of them
// expressions may use) and ours. Names with `_` are written by print.ts only.
import { Environment, EvaluationError, type ASTNode } from '@marcbachmann/cel-js';
import type { JsonValue } from '../core/json.js';
import { celValue, exactNumber, jsonValue, textOf, TOO_LARGE } from './json-value.js';
import { matchesPattern } from './pattern.js';
import { checkResultSize, countTurns, resetCost, spend, spendOn, tooLong, tooMany } from './evaluation-cost.js';
import { isForbiddenKey } from './find-unknown.js';

/** Types of variables as the library names them, each with the letter that their names begin with. */
const LETTERS = { dyn: 'x', string: 's', double: 'n', bool: 'b', 'list<dyn>': 'l', 'map<string, dyn>': 'm' } as const;
export type CelType = keyof typeof LETTERS;

// An expression written again has more nodes than its source, which was bounded already.
const LIMITS = { maxAstNodes: 20_000, maxDepth: 500, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 };

let shared: Environment | undefined;

/** The shared environment; made at the first use. */
export function celEnvironment(): Environment {
  return (shared ??= makeEnvironment());
}

/** The i-th variable of a type, known to the environment from now on. */
export function variableOf(type: CelType, optional: boolean, i: number): string {
  const name = `_${optional ? 'o' : ''}${LETTERS[type]}${i}`;
  if (!celEnvironment().hasVariable(name)) celEnvironment().registerVariable(name, optional ? `optional<${type}>` : type);
  return name;
}

const ARITHMETIC: { [operator: string]: (a: number, b: number) => number } = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

function makeEnvironment(): Environment {
  const env = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false, limits: LIMITS });
  const add = (signature: string, handler: (...args: never[]) => unknown) => env.registerFunction(signature, handler as (...args: unknown[]) => unknown, { async: false });
  for (const [operator, apply] of Object.entries(ARITHMETIC)) {
    const exact = ((a: number, b: number, node: ASTNode) => checked(operator, a, b, apply(a, b), node)) as (a: number, b: number) => number;
    // Values that are read are `dyn`; two written numbers meet the library's own operator (it has none for %).
    env.registerOperator(`dyn<double> ${operator} dyn<double>: double`, exact);
    if (operator === '%') env.registerOperator('double % double', exact);
  }
  add('_n(int): double', (value: bigint) => attempt(() => exactNumber(value)));
  add('_n(double): double', (value: number) => value);
  add('_exact(double): double', (value: number) => (Number.isSafeInteger(value) ? value : fail(`${value} is too large: ${TOO_LARGE}`)));
  add('_finite(double): double', (value: number) => (Number.isFinite(value) ? value : fail('division by zero')));
  add('_index(double): int', (value: number) => wholeNumber(value, 'an index'));
  add('_index(string): string', (value: string) => value);
  add('_key(string): string', (key: string) => (isForbiddenKey(key) ? fail(`an expression cannot make an object with the key "${key}"`) : key));
  add('_turns(A): A', (range: unknown) => paid(countTurns(range), range));
  add('_paid(A): A', (value: unknown) => paid(spendOn(value), value));
  add('string._matches(string): bool', (text: string, pattern: string) => paid(spend(4 * text.length + 300 * pattern.length), attempt(() => matchesPattern(text, pattern))));
  add('list._join(): string', (list: unknown[]) => joined(list, ''));
  add('list._join(string): string', joined);
  add('join(list, string): string', joined);
  add('toJson(dyn): string', (value: unknown) => attempt(() => jsonText(value)));
  add('fromJson(string): dyn', fromJson);
  add('lower(string): string', (text: string) => text.toLowerCase());
  add('upper(string): string', (text: string) => text.toUpperCase());
  add('replace(string, string, string): string', replaced);
  // The library's own take an integer of its kind.
  add('string.substring(double): string', (text: string, start: number) => slice(text, start, text.length));
  add('string.substring(double, double): string', slice);
  add('string.indexOf(string, double): int', (text: string, part: string, from: number) => BigInt(text.indexOf(part, Number(wholeNumber(from, 'indexOf')))));
  add('string.lastIndexOf(string, double): int', (text: string, part: string, from: number) => BigInt(text.lastIndexOf(part, Number(wholeNumber(from, 'lastIndexOf')))));
  add('string._split(string): list<string>', (text: string, separator: string) => split(text, separator, -1));
  add('string._split(string, double): list<string>', split);
  add('timestamp(double): google.protobuf.Timestamp', (seconds: number) => new Date(seconds * 1000));
  return env;
}

function checked(operator: string, a: number, b: number, result: number, node: ASTNode): number {
  if (b === 0 && (operator === '/' || operator === '%')) fail('division by zero', node);
  if (Number.isInteger(result) && !Number.isSafeInteger(result) && Number.isSafeInteger(a) && Number.isSafeInteger(b)) fail(`${a} ${operator} ${b} is too large: ${TOO_LARGE}`, node);
  return result;
}

function fail(message: string, node?: ASTNode): never {
  throw new EvaluationError({ code: 'planwright', message, ...(node === undefined ? {} : { node }) });
}

let exhausted: EvaluationError | undefined;

/** Begins an evaluation. */
export function beginEvaluation(): void {
  exhausted = undefined;
  resetCost();
}

// The value, when nothing is wrong with its cost. Loops such as exists() go on after an error, a million times if they
// may: the one error is thrown again and again, since making one costs more than the turn.
function paid<T>(wrong: string | undefined, value: T): T {
  if (wrong === undefined) return value;
  throw (exhausted ??= new EvaluationError({ code: 'planwright', message: wrong }));
}

function replaced(text: string, from: string, to: string): string {
  // Between all characters, as splitting the text would do.
  const times = from === '' ? Math.max(0, text.length - 1) : occurrences(text, from);
  const length = text.length + times * (to.length - from.length);
  paid(tooLong(length) ?? spend(text.length + length + 64 * times), undefined);
  return from === '' ? [...text].join(to) : text.replaceAll(from, () => to);
}

function occurrences(text: string, part: string): number {
  let times = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) times += 1;
  return times;
}

function attempt<T>(compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    return fail((error as Error).message);
  }
}

function wholeNumber(value: number, what: string): bigint {
  return Number.isSafeInteger(value) ? BigInt(value) : fail(`${what} is a whole number, not ${value}`);
}

function slice(text: string, start: number, end: number): string {
  const [from, to] = [Number(wholeNumber(start, 'substring')), Number(wholeNumber(end, 'substring'))];
  if (from < 0 || to < from || to > text.length) fail(`substring(${from}, ${to}) is outside of a text of ${text.length} characters`);
  return text.slice(from, to);
}

function split(text: string, separator: string, most: number): string[] {
  const limit = Number(wholeNumber(most, 'split'));
  const items = separator === '' ? text.length : occurrences(text, separator) + 1;
  paid(tooMany(items) ?? spend(text.length + 64 * items), undefined);
  const parts = text.split(separator);
  if (limit < 0 || parts.length <= limit) return parts;
  return limit === 0 ? [] : [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)];
}

function joined(list: unknown[], separator: string): string {
  let length = 0;
  const texts = list.map((item) => {
    if (item === null) fail('join: an item is null, which is no text');
    const text = typeof item === 'object' ? attempt(() => jsonText(item)) : attempt(() => textOf(jsonValue(item)));
    length += text.length + separator.length;
    paid(tooLong(length) ?? spend(text.length), undefined);
    return text;
  });
  return texts.join(separator);
}

function jsonText(value: unknown): string {
  checkResultSize(value);
  const text = JSON.stringify(jsonValue(value));
  return paid(tooLong(text.length) ?? spend(4 * text.length), text);
}

function fromJson(text: string): unknown {
  paid(spend(4 * text.length), undefined);
  try {
    return celValue(JSON.parse(text) as JsonValue);
  } catch {
    return fail('fromJson: the text is not JSON');
  }
}
