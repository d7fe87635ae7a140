// The CEL environment that all expressions share, over a kept library, with its traps closed:
//
// C1. Numbers are JSON numbers. Integer literals become decimals when they are parsed, functions that count (`size`) mix
//     with them by declared operators, and what leaves as a BigInt becomes a number. So 10 / 4 is 2.5 and 1 == 1.0.
// C2. `matches` is linear (RE2): no pattern can hang the program.
// C3. Data is only data: the library asks an object for its `constructor` to find its type, so one that has a member of
//     that name goes in as a Map.
// C4. Names that an expression reads are replaced by typed variables of the same length (see compile.ts), so that the
//     library checks types without knowing 50,000 steps.
//
// Beside CEL's own: `toJson(x)` and `fromJson(text)`, `join(list, text)`, `lower(text)`, `upper(text)`, `trim(text)`,
// `replace(text, from, to)` (all of them, no pattern), `contains`, `startsWith`, `endsWith`, `split`.
import { Environment } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';

/** Types of the variables that stand for references: a letter each, since the name must be short. */
export const VARIABLE_TYPES = { s: 'string', n: 'double', b: 'bool', m: 'map<string, dyn>', x: 'dyn' } as const;
export type VariableLetter = keyof typeof VARIABLE_TYPES;

/** How many references of one type an expression may have. */
export const MOST_REFERENCES = 100;

/** The linear form of `matches`, as long as it. */
export const LINEAR_MATCHES = 'matchez';

const ARITHMETIC: { [operator: string]: (a: number, b: number) => number } = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => finite(a / b, b),
  '%': (a, b) => finite(a % b, b),
};

function finite(result: number, divisor: number): number {
  if (divisor === 0) throw new Error('division by zero');
  return result;
}

const patterns = new Map<string, RE2JS>();

function matchesLinear(text: string, pattern: string): boolean {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    if (patterns.size > 500) patterns.clear();
    patterns.set(pattern, (compiled = compilePattern(pattern)));
  }
  return compiled.matcher(text).find();
}

/** A pattern in RE2 syntax (no look-around, no back-references), which matches in linear time. Throws Error with the reason. */
export function compilePattern(pattern: string): RE2JS {
  if (pattern.length > 1000) throw new Error('a pattern may have at most 1000 characters');
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(`"${pattern}" is not a pattern in RE2 syntax: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** JSON from a value of the library: BigInts become numbers, maps objects. Throws Error for what no JSON can hold. */
export function toJsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) throw new Error(`the integer ${value} is too large: numbers are exact to 9007199254740991`);
    return number;
  }
  if (value === null || typeof value !== 'object') {
    if (value === undefined) return null;
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`the result is ${value}, which JSON cannot hold`);
    if (typeof value === 'function' || typeof value === 'symbol') throw new Error('the result is not a value');
    return value;
  }
  if (Array.isArray(value)) return value.some(needsWork) ? value.map(toJsonValue) : value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, member]) => [String(key), toJsonValue(member)]));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    if (!Object.values(value).some(needsWork)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toJsonValue(member)]));
  }
  const optional = value as { hasValue?: () => boolean; value?: () => unknown };
  if (typeof optional.hasValue === 'function' && typeof optional.value === 'function') return optional.hasValue() ? toJsonValue(optional.value()) : null;
  throw new Error(`the result is a ${(value as object).constructor.name}, which is no JSON value; wrap it in string(…)`);
}

/** A JSON value as the library can take it. */
export function toCelValue(value: unknown): unknown {
  return hasConstructorMember(value) ? withMaps(value) : value;
}

function hasConstructorMember(value: unknown): boolean {
  const stack = [value];
  while (stack.length > 0) {
    const one = stack.pop();
    if (one === null || typeof one !== 'object') continue;
    if (Array.isArray(one)) {
      for (const item of one) if (typeof item === 'object') stack.push(item);
    } else {
      for (const [key, member] of Object.entries(one)) {
        if (key === 'constructor') return true;
        if (typeof member === 'object') stack.push(member);
      }
    }
  }
  return false;
}

function withMaps(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(withMaps);
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [key, withMaps(member)]);
  return Object.hasOwn(value, 'constructor') ? new Map(entries) : Object.fromEntries(entries);
}

function needsWork(value: unknown): boolean {
  return typeof value === 'bigint' || value === undefined || (typeof value === 'object' && value !== null) || (typeof value === 'number' && !Number.isFinite(value));
}

let shared: Environment | undefined;

/** The shared environment; made at the first use. */
export function celEnvironment(): Environment {
  return (shared ??= makeEnvironment());
}

function makeEnvironment(): Environment {
  const env = new Environment({
    unlistedVariablesAreDyn: false,
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 32 },
  });
  for (const [letter, type] of Object.entries(VARIABLE_TYPES)) for (let i = 0; i < MOST_REFERENCES; i += 1) env.registerVariable(`${letter}${i}`, type);
  for (const [operator, apply] of Object.entries(ARITHMETIC)) {
    const mixed = (a: unknown, b: unknown) => apply(Number(a), Number(b));
    env.registerOperator(`double ${operator} int`, mixed);
    env.registerOperator(`int ${operator} double`, mixed);
  }
  env.registerOperator('double % double', (a: number, b: number) => ARITHMETIC['%']?.(a, b));
  env.registerOperator('double == int', (a: number, b: bigint) => a === Number(b));
  env.registerFunction(`string.${LINEAR_MATCHES}(string): bool`, matchesLinear);
  env.registerFunction('toJson(dyn): string', (value: unknown) => JSON.stringify(toJsonValue(value)));
  env.registerFunction('fromJson(string): dyn', (text: string) => parseJson(text));
  env.registerFunction('lower(string): string', (text: string) => text.toLowerCase());
  env.registerFunction('upper(string): string', (text: string) => text.toUpperCase());
  env.registerFunction('replace(string, string, string): string', (text: string, from: string, to: string) => text.split(from).join(to));
  env.registerFunction('join(list<dyn>, string): string', (list: unknown[], separator: string) => list.map((item) => textOf(item)).join(separator));
  return env;
}

function parseJson(text: string): unknown {
  try {
    return toCelValue(JSON.parse(text));
  } catch {
    throw new Error('fromJson: the text is not JSON');
  }
}

/** A value as text: strings as they are, numbers and booleans as JSON, arrays and objects as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(toJsonValue(value));
}
