import { describe, expect, test } from 'vitest';
import { evaluateCondition } from '../../src/expression/evaluate.js';
import { ExpressionError } from '../../src/expression/expression-error.js';
import { FUNCTIONS, METHODS } from '../../src/expression/functions.js';
import { scopeOf, value } from './support.js';

describe('functions', () => {
  test.each([
    ['upper("ab") + lower("CD")', 'ABcd'],
    ['join(["a", 1, true, [2]], "-")', 'a-1-true-[2]'],
    ['["a", 1].join(",")', 'a,1'],
    ['params.l.join("")', '12'],
    ['replace("a.b.c", ".", "-")', 'a-b-c'],
    ['fromJson("{\\"a\\": [1]}").a[0] + 1', 2],
    ['toJson({"a": [1, 2.5, null]})', '{"a":[1,2.5,null]}'],
    ['"x" + "}}"', 'x}}'],
    ['"a,b,c".split(",")', ['a', 'b', 'c']],
    ['"a,b,c".split(",", 2)', ['a', 'b,c']],
    ['"abc".contains("b") && "abc".startsWith("a") && "abc".endsWith("c")', true],
    ['" a ".trim()', 'a'],
    ['"abcabc".lastIndexOf("b")', 4],
    ['"abcabc".indexOf("b", 2)', 4],
    ['bytes("abc").base64()', 'YWJj'],
    ['params.l.exists(x, x > 1) && !params.l.all(x, x > 1) && params.l.exists_one(x, x == 2)', true],
    ['params.l.map(x, x > 1, x * 10)', [20]],
    ['params.o.map(key, key)', ['a']],
    ['timestamp("2024-01-02T00:00:00Z") - timestamp("2024-01-01T00:00:00Z")', '86400000ms'],
    ['timestamp("2024-01-01T00:00:00Z") + duration("90m")', '2024-01-01T01:30:00.000Z'],
    ['bool("true") ? "y" : "n"', 'y'],
    ['type(params.l) == list && type(1) == double', true],
    ['"\\u00e9\\n\\"q\\\\"', 'é\n"q\\'],
    ['r"a\\d"', 'a\\d'],
  ])('%s', (text, expected) => {
    expect(value(text, { l: [1, 2], o: { a: 1 } })).toEqual(expected);
  });

  test.each([
    ['fromJson("{")', 'the text is not JSON'],
    ['join([null], "")', 'an item is null'],
    ['"abc".substring(5)', 'outside of a text of 3 characters'],
    ['params.l[1.5]', 'an index is a whole number, not 1.5'],
    ['b"abc"', 'JSON cannot hold'],
    ['params.s.matches("(" + params.s)', 'is no pattern in RE2 syntax'],
  ])('%s fails with a reason', (text, message) => {
    expect(() => value(text, { l: [1], s: 'a' })).toThrow(message);
  });

  test('every function and method that is offered exists', () => {
    for (const [name, counts] of FUNCTIONS) for (const count of counts) expect(() => value(`${name}(${Array.from({ length: count }, () => 'params.x').join(', ')})`, { x: [1] })).not.toThrow(/there is no/);
    for (const [name, counts] of METHODS) {
      for (const count of counts) {
        try {
          value(`params.x.${name}(${['i', 'i', 'i'].slice(0, count).join(', ')})`, { x: [] });
        } catch (error) {
          expect((error as Error).message).not.toMatch(/there is no method/);
        }
      }
    }
  });

  test('matches is linear in the text', () => {
    const started = performance.now();
    expect(value('params.s.matches("^(a+)+$")', { s: `${'a'.repeat(40)}!` })).toBe(false);
    expect(value('params.s.matches(params.p)', { s: `${'a'.repeat(20_000)}!`, p: '^(a|a)*$' })).toBe(false);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(value('"abc".matches("^a.c$") && "xabcx".matches("abc")')).toBe(true);
    expect(value('"matches" + string("a.matches".matches("matches"))')).toBe('matchestrue');
  });
});

describe('conditions', () => {
  test('only true and false are verdicts: the text "false" is an error', () => {
    expect(evaluateCondition('params.b', scopeOf({ b: false }))).toBe(false);
    expect(evaluateCondition('params.n > 1', scopeOf({ n: 2 }))).toBe(true);
    expect(() => evaluateCondition('params.b', scopeOf({ b: 'false' }))).toThrow('expected true or false, got "false" (in: params.b)');
    for (const b of [1, 0, null, [], {}, '']) expect(() => evaluateCondition('params.b', scopeOf({ b }))).toThrow(ExpressionError);
  });
});
