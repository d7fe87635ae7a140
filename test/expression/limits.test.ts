import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { evaluateExpression } from '../../src/expression/evaluate.js';
import { ExpressionError } from '../../src/expression/expression-error.js';
import { evaluateText } from '../../src/expression/template.js';
import { scopeOf, value, type Steps } from './support.js';

const times = (n: number, text: string) => text.repeat(n);
const list = Array.from({ length: 1000 }, (_, i) => i);

describe('limits', () => {
  test.each([
    ['characters', `1 + ${times(20_000, ' ')}1`, /at most 20000 characters/],
    ['terms', `${times(1500, '1 + ')}1`, /too large/],
    ['parentheses', `${times(5000, '(')}1${times(5000, ')')}`, /nested too deeply/],
    ['signs', `${times(19_000, '-')}1`, /nested too deeply/],
    ['negations', `${times(19_000, '!')}true`, /nested too deeply/],
    ['lists', `${times(200, '[')}${times(200, ']')}`, /nested too deeply/],
    ['names', `params${times(200, '.a')}`, /nested too deeply/],
    ['items', `[${times(1100, '1,')}]`, /too large/],
    ['sums of integers', `${times(900, '1 + ')}1`, /too large/],
    ['nothing', '   ', /the expression is empty/],
  ])('an expression is bounded in %s', (_, text, message) => {
    try {
      value(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ExpressionError);
      expect((error as Error).message).toMatch(message);
    }
  });

  test('what people write is far from the bounds', () => {
    expect(value(`${times(400, '1 + ')}1`)).toBe(401);
    expect(value(`${times(900, 'false || ')}true`)).toBe(true);
    expect(value(`${times(90, '(')}1${times(90, ')')}`)).toBe(1);
    expect(value(`${times(90, 'false ? 1 : ')}"end"`)).toBe('end');
    expect(value(`[${times(900, '1,')}]`)).toHaveLength(900);
    expect(value(Array.from({ length: 150 }, (_x, i) => `params.p${i}`).join(' + '), Object.fromEntries(list.map((i) => [`p${i}`, i])))).toBe((149 * 150) / 2);
  });

  test.each(['params.l.map(a, params.l.map(b, params.l.map(c, a)))', 'params.l.exists(a, params.l.exists(b, params.l.exists(c, c < 0)))', 'params.l.all(a, params.l.all(b, params.l.all(c, c >= 0)))'])(
    'loops in loops end: %s',
    (text) => {
      const started = performance.now();
      expect(() => value(text, { l: list })).toThrow(/may take 1000000 turns together/);
      expect(performance.now() - started).toBeLessThan(5000);
      expect(value('size(params.l.map(a, params.l.filter(b, b < a)))', { l: list.slice(0, 900) })).toBe(900);
    },
  );

  const doubled = (times2: number, from: string, how: (inner: string) => string) => Array.from({ length: times2 }).reduce<string>(how, from);
  const large = 'x'.repeat(1_000_000);
  const some = list.slice(0, 300);
  const many = list.slice(0, 999);
  test.each([
    ['replacements of replacements', doubled(12, '"aaaaaaaaaa"', (inner) => `replace(${inner}, "a", "aaaaaaaaaa")`), {}],
    ['replacements that double', doubled(90, '"a"', (inner) => `replace(${inner}, "a", "aa")`), {}],
    ['text that doubles in loops', doubled(28, 'params.t', (inner) => `[${inner}].map(x, x + x)[0]`), { t: 'x' }],
    ['lists that double in loops', `size(${doubled(20, 'params.l', (inner) => `[${inner}].map(x, x + x)[0]`)})`, { l: list }],
    ['lists in lists of lists', 'size(toJson(params.l.map(a, params.l.map(b, params.l))))', { l: many }],
    ['a value that is in the result too often', 'params.l.map(a, params.b)', { l: list, b: Array.from({ length: 10_000 }, (_, i) => ({ i })) }],
    ['a long text in pieces', 'size(params.t.split(""))', { t: large + large }],
    ['a long text in pieces, in a loop', 'size(params.l.map(a, params.t.split("x")))', { l: list, t: large.slice(1) }],
    ['a long separator', 'size(join(params.l, params.t))', { l: list, t: large }],
    ['a search in a long text, in a loop', 'size(params.l.map(a, params.t.contains("xy")))', { l: list, t: large }],
    ['a list searched in loops', 'params.l.exists(a, params.l.exists(b, -1 in params.l))', { l: some }],
    ['lists compared in loops', 'params.l.exists(a, params.l.exists(b, params.l == params.m && b < 0))', { l: some, m: [...some] }],
    ['text made in loops', 'size(params.l.map(a, params.l.map(b, toJson(params.l))))', { l: many }],
    ['JSON read in loops', 'size(params.l.map(a, params.l.map(b, fromJson(params.t))))', { l: many, t: JSON.stringify(list) }],
    ['patterns made in loops', 'size(params.l.map(a, params.l.map(b, "x".matches("aaaaaaaaaaaaaaaaaaaaaaa" + string(a * 1000 + b)))))', { l: some }],
    ['a pattern on a long text, in a loop', 'size(params.l.map(a, params.t.matches("(x+x+)+y")))', { l: list, t: large }],
  ] as Array<[string, string, JsonObject]>)('%s end with an error, soon', (_, text, params) => {
    const started = performance.now();
    expect(() => value(text, params)).toThrow(/too much data|at most (?:16777216 characters|1000000 items)|the result is too large|turns together/);
    expect(performance.now() - started).toBeLessThan(8000);
  });

  test('an error in every turn of a loop does not take its time from the stack', () => {
    const started = performance.now();
    expect(() => value('params.l.exists(a, params.l.exists(b, params.l[5000] == 1))', { l: some })).toThrow(/index 5000 of 300 items/);
    expect(performance.now() - started).toBeLessThan(2500);
    expect(Error.stackTraceLimit).toBeGreaterThan(0);
  });

  test('a comment is no code, and code behind one is checked', () => {
    expect(value('true // x.matches("(a+)+$")')).toBe(true);
    expect(value('// matches(\nparams.t.matches // "(\n("(a+)+$")', { t: `${'a'.repeat(40)}b` })).toBe(false);
    expect(value('"// matches(" + params.t', { t: 'a' })).toBe('// matches(a');
  });

  test('large values are no fault by themselves', () => {
    expect(value('size(replace(params.t, "x", "yz"))', { t: large })).toBe(2_000_000);
    expect(value('params.l.filter(x, x in params.m).size()', { l: list, m: list })).toBe(1000);
    expect(value('params.l.map(x, "a" + string(x)).join(",").size()', { l: list })).toBe(4889);
    expect(value('replace("abc", "", "-")')).toBe('a-b-c');
  });

  test('one expression evaluated 50,000 times is compiled once', () => {
    const steps: Steps = { a: { status: 'completed', result: 1 } };
    const asked: string[] = [];
    const scope = scopeOf({}, steps, asked);
    const started = performance.now();
    let sum = 0;
    for (let i = 0; i < 50_000; i += 1) sum += evaluateExpression('steps.a.result + 1', scope) as number;
    expect(sum).toBe(100_000);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(asked).toHaveLength(50_000);
  });

  test('many texts do not stay in memory', () => {
    const scope = scopeOf({ n: 1 });
    for (let i = 0; i < 9000; i += 1) expect(evaluateText(`\${{ params.n + ${i} }}`, scope)).toBe(String(i + 1));
    expect(evaluateText('${{ params.n + 1 }}', scope)).toBe('2');
  });
});
