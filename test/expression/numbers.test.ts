import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { value } from './support.js';

describe('numbers', () => {
  test.each([
    ['1 + 0.5', 1.5],
    ['params.n + 1', 42],
    ['params.n * 1.5', 61.5],
    ['params.n - 0.5', 40.5],
    ['params.n % 2 == 1', true],
    ['7 % 2.5', 2],
    ['-7 % 3', -1],
    ['1 == 1.0', true],
    ['1 != 1.5', true],
    ['params.n == 41', true],
    ['params.n == 41.0', true],
    ['params.n < 41.5', true],
    ['1 < 1.5 && 2.5 >= 2', true],
    ['2 in params.list', true],
    ['2.0 in params.list', true],
    ['params.n in [1, 41]', true],
    ['size(params.list) in params.list', true],
    ['params.list == [1, 2, 3]', true],
    ['[1, 2.0] == [1.0, 2]', true],
    ['{"a": [1]} == {"a": [1.0]}', true],
    ['size(params.list) + 1', 4],
    ['3 == size(params.list)', true],
    ['params.list[0]', 1],
    ['params.list[size(params.list) - 1]', 3],
    ['params.list[params.list[0]]', 2],
    ['params.list.map(x, x * 2)', [2, 4, 6]],
    ['params.list.filter(x, x > 1)', [2, 3]],
    ['params.list.map(x, params.list.map(y, x * y))', [[1, 2, 3], [2, 4, 6], [3, 6, 9]]],
    ['params.list + [4]', [1, 2, 3, 4]],
    ['-params.n', -41],
    ['1 - (2 - 3) - 4', -2],
    ['2 * (3 + 4) % 5', 4],
    ['int("5") + 1', 6],
    ['int(5.7)', 5],
    ['double("3.5") + 1', 4.5],
    ['string(params.n)', '41'],
    ['string(2.5) + "!"', '2.5!'],
    ['0x10', 16],
    ['1e3', 1000],
    ['true ? 1 : 2.5', 1],
    ['{"a": 1, "b": [2, size("xyz")]}', { a: 1, b: [2, 3] }],
    ['timestamp("2024-03-01T00:00:00Z").getFullYear() + 1', 2025],
    ['"abc".indexOf("c") + 0.5', 2.5],
    ['"abcd".substring(params.list[0], 3)', 'bc'],
  ])('%s', (text, expected) => {
    expect(value(text, { n: 41, list: [1, 2, 3] })).toEqual(expected);
  });

  test.each([
    ['10 / 4', 2.5],
    ['int(10 / 4)', 2],
    ['-7 / 2', -3.5],
    ['size(params.list) / 2', 1.5],
    ['(size(params.list) + 2) / 2', 2.5],
    ['int(params.ten) / 4', 2.5],
    ['10 / 4.0', 2.5],
    ['10.0 / 4', 2.5],
    ['params.ten / 4', 2.5],
    ['params.ten / 5', 2],
    ['10 / params.four', 2.5],
    ['params.ten / params.four', 2.5],
    ['params.list.map(x, x / 2)', [0.5, 1, 1.5]],
  ])('a division is exact, whatever is divided: %s', (text, expected) => {
    expect(value(text, { ten: 10, four: 4, list: [1, 2, 3] })).toEqual(expected);
  });

  test.each(['1 / 0', '1.5 / 0', '7 % 0', 'params.n / params.zero', 'params.n / 0', 'params.n % params.zero', '0 / params.zero', 'params.n / 0 > 5'])('dividing by zero is an error: %s', (text) => {
    expect(() => value(text, { n: 1, zero: 0 })).toThrow(`division by zero (in: ${text})`);
  });

  test.each([
    '9007199254740993',
    'int("9007199254740993")',
    '9007199254740991 + 2',
    '9007199254740991 * 9007199254740991',
    'params.most + 1',
    'params.most + params.most',
    'params.most * 3',
    '-params.most - 2',
    '[1].map(x, params.most + x)',
  ])('an integer too large to be exact is an error, not a loss: %s', (text) => {
    expect(() => value(text, { most: Number.MAX_SAFE_INTEGER })).toThrow(/too large: whole numbers are exact only to 9007199254740991/);
  });

  test('a number that is only passed on stays what it is', () => {
    expect(value('params.n', { n: 1e300 })).toBe(1e300);
    expect(value('[params.n]', { n: 2 ** 60 })).toEqual([2 ** 60]);
    expect(value('9007199254740991 - 1')).toBe(9007199254740990);
  });

  const number = fc.oneof(fc.integer({ min: -100_000, max: 100_000 }), fc.integer({ min: -800, max: 800 }).map((n) => n / 8));
  const literal = (n: number) => (n < 0 ? `(-${Math.abs(n)})` : String(n));

  test('arithmetic and comparison of any mix are those of JSON numbers, written or read', () => {
    fc.assert(
      fc.property(number, number, fc.constantFrom('+', '-', '*', '/', '%'), (a, b, operator) => {
        fc.pre(!Object.is(a, -0) && !Object.is(b, -0) && (b !== 0 || !'/%'.includes(operator)));
        const expected = { '+': a + b, '-': a - b, '*': a * b, '/': a / b, '%': a % b }[operator];
        expect(value(`params.a ${operator} params.b`, { a, b })).toBe(expected);
        expect(value(`${literal(a)} ${operator} params.b`, { b })).toBe(expected);
        expect(value(`params.a ${operator} ${literal(b)}`, { a })).toBe(expected);
        expect(value(`${literal(a)} ${operator} ${literal(b)}`)).toBe(expected);
        for (const [compare, holds] of [['==', a === b], ['!=', a !== b], ['<', a < b], ['<=', a <= b], ['>', a > b], ['>=', a >= b]] as const) {
          expect(value(`params.a ${compare} params.b`, { a, b })).toBe(holds);
          expect(value(`${literal(a)} ${compare} params.b`, { b })).toBe(holds);
          expect(value(`${literal(a)} ${compare} ${literal(b)}`)).toBe(holds);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('no BigInt leaves in any result, and no value changes on its way', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('params.v', '[params.v][0]', 'fromJson(toJson(params.v))'), (json, read) => {
        const given = JSON.parse(JSON.stringify(json)) as JsonValue;
        const found = value(`{"v": ${read}, "n": size([1, 2]), "l": [size("ab"), int("7"), 10 / 4, "abc".indexOf("c")]}`, { v: given }) as JsonObject;
        expect(JSON.parse(JSON.stringify(found))).toEqual({ v: given, n: 2, l: [2, 7, 2.5, 2] });
        expect(value('params.v', { v: given })).toEqual(given);
      }),
    );
  });
});
