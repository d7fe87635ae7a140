import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/core/json.js';
import { checkExpression, checkTemplate, type ExpressionType, type TypeEnvironment } from '../../src/expression/check.js';
import { evaluateCondition, evaluateExpression } from '../../src/expression/evaluate.js';
import { ExpressionError } from '../../src/expression/expression-error.js';
import { referencesOf, referencesOfTemplate } from '../../src/expression/references.js';
import type { EvaluationScope } from '../../src/expression/scope.js';
import { evaluateTemplate, evaluateText, evaluateValue } from '../../src/expression/template.js';

type Steps = { [id: string]: { status: string; outputs?: { [name: string]: JsonValue }; result?: JsonValue } };
const scope = (params: { [name: string]: JsonValue } = {}, steps: Steps = {}): EvaluationScope => ({
  params,
  env: { HOME: '/root' },
  secrets: { TOKEN: 't' },
  session: { id: 'S' },
  plan: { name: 'p' },
  step: (id) => (Object.hasOwn(steps, id) ? steps[id] : undefined),
});
const value = (text: string, params: { [name: string]: JsonValue } = {}, steps: Steps = {}) => evaluateExpression(text, scope(params, steps));

describe('numbers', () => {
  test.each([
    ['10 / 4', 2.5],
    ['1 + 0.5', 1.5],
    ['params.n + 1', 42],
    ['params.n * 1.5', 61.5],
    ['params.n % 2 == 1', true],
    ['1 == 1.0', true],
    ['params.n == 41', true],
    ['params.n < 41.5', true],
    ['size(params.list) + 1', 4],
    ['size(params.list) == 3', true],
    ['3 == size(params.list)', true],
    ['params.list[size(params.list) - 1]', 3],
    ['params.list[0]', 1],
    ['[7, 8][1]', 8],
    ['params.list[params.n - 40]', 2],
    ['params.list.map(x, x * 2)', [2, 4, 6]],
    ['params.list.filter(x, x > 1)', [2, 3]],
    ['2 in params.list', true],
    ['-params.n', -41],
    ['int("5") + 1', 6],
    ['int(5.7)', 5],
    ['string(params.n)', '41'],
    ['{"a": 1, "b": [2, size("xyz")]}', { a: 1, b: [2, 3] }],
  ])('%s', (text, expected) => {
    expect(value(text, { n: 41, list: [1, 2, 3] })).toEqual(expected);
  });

  test('too large to be exact is an error, not a loss', () => {
    expect(() => value('9007199254740993')).toThrow(/too large/);
    expect(() => value('int("9007199254740993")')).toThrow(/too large/);
    expect(() => value('1 / 0')).toThrow(/Infinity, which JSON cannot hold/);
  });

  test('arithmetic on any mix of integers and decimals is that of JSON numbers', () => {
    const number = fc.oneof(fc.integer({ min: -1000, max: 1000 }), fc.double({ min: -1000, max: 1000, noNaN: true }).map((n) => Math.round(n * 8) / 8));
    fc.assert(
      fc.property(number, number, fc.constantFrom('+', '-', '*'), (a, b, operator) => {
        const expected = operator === '+' ? a + b : operator === '-' ? a - b : a * b;
        const literal = (n: number) => (n < 0 || Object.is(n, -0) ? `(-${Math.abs(n)})` : String(n));
        expect(value(`params.a ${operator} params.b`, { a, b })).toBe(expected);
        expect(value(`${literal(a)} ${operator} params.b`, { b })).toBeCloseTo(expected, 9);
        expect(value('params.a == params.b', { a, b })).toBe(a === b);
        expect(value('params.a < params.b', { a, b })).toBe(a < b);
      }),
    );
  });

  test('no BigInt leaves in any result', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const text = JSON.stringify(value('{"v": params.v, "n": size([1, 2]), "l": [size("ab"), params.v]}', { v: json as JsonValue }));
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ v: json, n: 2, l: [2, json] })));
      }),
    );
  });
});

describe('absence', () => {
  const steps: Steps = { done: { status: 'completed', outputs: { x: 1 }, result: 'r' }, maybe: { status: 'skipped' }, 'my-id': { status: 'completed', outputs: { x: 7 } } };
  test.each([
    ['has(steps.maybe.outputs.x) ? steps.maybe.outputs.x : 5', 5],
    ['has(steps.done.outputs.x) ? steps.done.outputs.x : 5', 1],
    ['steps.maybe.outputs.?x.orValue(3)', 3],
    ['steps.done.outputs.?x.orValue(3)', 1],
    ['steps.maybe.status == "completed" && steps.maybe.outputs.x == 1', false],
    ['!has(steps.maybe.outputs.x) || steps.maybe.outputs.x == 1', true],
    ['steps["my-id"].outputs.x', 7],
    ['(steps.done.outputs).x + 1', 2],
    ['has(env.NOPE) ? env.NOPE : "none"', 'none'],
    ['env.HOME', '/root'],
    ['steps.done.result', 'r'],
    ['steps.maybe.status', 'skipped'],
  ])('%s', (text, expected) => {
    expect(value(text, {}, steps)).toEqual(expected);
  });

  test('an unguarded read of what is absent says what and why', () => {
    expect(() => value('steps.maybe.outputs.x', {}, steps)).toThrow('steps.maybe.outputs is absent: the step maybe is skipped');
    expect(() => value('env.NOPE')).toThrow('env.NOPE is absent');
    expect(() => value('params.a.b', { a: {} })).toThrow(/No such key: b/);
  });

  test('names of Object.prototype are ordinary names', () => {
    expect(() => value('params.toString', {})).toThrow('params.toString is absent');
    expect(() => value('params.a.constructor', { a: {} })).toThrow(/No such key/);
    expect(value('params.a.__proto__ == 1', { a: JSON.parse('{"__proto__": 1}') as JsonValue })).toBe(true);
  });
});

describe('text', () => {
  test('matches is linear', () => {
    const started = Date.now();
    expect(value('params.s.matches("^(a+)+$")', { s: `${'a'.repeat(40)}!` })).toBe(false);
    expect(Date.now() - started).toBeLessThan(1000);
    expect(value('"abc".matches("^a.c$")')).toBe(true);
    expect(() => value('"a".matches("(?=a)")')).toThrow(/RE2/);
  });

  test.each([
    ['upper("ab") + lower("CD")', 'ABcd'],
    ['join(["a", 1], "-")', 'a-1'],
    ['replace("a.b.c", ".", "-")', 'a-b-c'],
    ['fromJson("{\\"a\\": [1]}").a[0]', 1],
    ['toJson({"a": 1})', '{"a":1}'],
    ['"x" + "}}"', 'x}}'],
  ])('%s', (text, expected) => {
    expect(value(text)).toEqual(expected);
  });

  test('templates keep the type of one whole expression and make text of anything else', () => {
    const s = scope({ n: 3, list: [1], o: { a: 1 }, none: null });
    expect(evaluateTemplate('${{ params.n }}', s)).toBe(3);
    expect(evaluateTemplate('n=${{ params.n }}', s)).toBe('n=3');
    expect(evaluateTemplate(' ${{ params.n }}', s)).toBe(' 3');
    expect(evaluateText('${{ params.o }} ${{ params.list }} ${{ true }}', s)).toBe('{"a":1} [1] true');
    expect(evaluateText('${{ "}}" + "${{" }}', s)).toBe('}}${{');
    expect(evaluateText('$${{ params.n }}', s)).toBe('${{ params.n }}');
    expect(evaluateTemplate('${{ {"a": {"b": params.n}} }}', s)).toEqual({ a: { b: 3 } });
    expect(() => evaluateText('${{ params.none }}', s)).toThrow('expected text, got null');
    expect(() => evaluateText('a ${{ params.n', s)).toThrow(/not closed/);
    expect(evaluateValue({ a: ['${{ params.n }}', 'x${{ params.n }}', 4] }, s)).toEqual({ a: [3, 'x3', 4] });
  });

  test('text without expressions is itself', () => {
    fc.assert(fc.property(fc.string(), (text) => fc.pre(!text.includes('${{')) === undefined && evaluateTemplate(text, scope()) === text));
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => (fc.pre(!a.includes('$') && !b.includes('$')), evaluateText(`${a}\${{ params.v }}${b}`, scope({ v: 'V' })) === `${a}V${b}`)));
  });
});

describe('conditions', () => {
  test('only true and false are verdicts: the text "false" is an error', () => {
    expect(evaluateCondition('params.b', scope({ b: false }))).toBe(false);
    expect(() => evaluateCondition('params.b', scope({ b: 'false' }))).toThrow('expected true or false, got "false"');
    expect(() => evaluateCondition('params.n', scope({ n: 1 }))).toThrow(ExpressionError);
  });

  test('an expression is bounded in size', () => {
    expect(() => value(`${'('.repeat(500)}1${')'.repeat(500)}`)).toThrow(ExpressionError);
    expect(() => value('1 + '.repeat(20_000) + '1')).toThrow(/at most/);
  });
});

describe('references', () => {
  test('are found with place, member and guard', () => {
    expect(referencesOf('steps.a.outputs.x.y + params.n')).toMatchObject([
      { root: 'steps', name: 'a', member: 'outputs', output: 'x', guarded: false, offset: 0, length: 17 },
      { root: 'params', name: 'n', offset: 22, length: 8 },
    ]);
    expect(referencesOf('steps["a-b"].result')).toMatchObject([{ name: 'a-b', member: 'result' }]);
    expect(referencesOf('steps.a.outputs.?x.orValue(1)')).toMatchObject([{ name: 'a', member: 'outputs', output: 'x', guarded: true }]);
    expect(referencesOf('has(steps.a.outputs.x) ? steps.a.outputs.x : steps.a.outputs.x').map((r) => r.guarded)).toEqual([true, true, false]);
    expect(referencesOf('has(steps.a.outputs.x) && steps.b.outputs.x == 1').map((r) => r.guarded)).toEqual([true, false]);
    expect(referencesOf('[1].map(steps, steps + 1)')).toEqual([]);
    expect(referencesOfTemplate('a ${{ params.n }} b ${{ env.X }}').map((r) => [r.name, r.offset])).toEqual([
      ['n', 6],
      ['X', 24],
    ]);
    expect(() => referencesOf('steps.a.outputz.x')).toThrow(/a step has no "outputz"/);
  });
});

describe('types', () => {
  const types = (declared: { [name: string]: ExpressionType }): TypeEnvironment => ({
    param: (name) => declared[name] ?? 'any',
    output: (_, name) => declared[name] ?? 'any',
    result: () => 'any',
  });
  const check = (text: string, declared: { [name: string]: ExpressionType } = {}, expected?: 'boolean') => checkExpression(text, types(declared), expected);

  test('are known before anything runs', () => {
    expect(check('params.n', { n: 'integer' })).toEqual({ type: 'integer' });
    expect(check('params.n + 1', { n: 'integer' })).toEqual({ type: 'number' });
    expect(check('size(params.l)', { l: 'array' })).toEqual({ type: 'integer' });
    expect(check('params.l[0] + params.l[size(params.l) - 1]', { l: 'array' })).toEqual({ type: 'any' });
    expect(check('params.s == "a"', { s: 'string' })).toEqual({ type: 'boolean' });
    expect(check('steps.a.outputs.x + "!"', { x: 'string' })).toEqual({ type: 'string' });
    expect(check('steps.a.result.rows > 3')).toEqual({ type: 'boolean' });
    expect(checkTemplate('n is ${{ params.n }}', types({ n: 'integer' }), 'text')).toEqual({ type: 'string' });
  });

  test.each([
    ['params.s + 1', 's', 'string', 0],
    ['params.s > 3', 's', 'string', 0],
    ['1 + (params.n == params.s)', 'n', 'number', 0],
    ['params.s && true', 's', 'string', 0],
    ['foo == 1', 's', 'string', 0],
  ])('%s is refused', (text, name, type) => {
    const result = check(text, { s: 'string', [name]: type as ExpressionType });
    expect(result).toHaveProperty('faults');
  });

  test('a condition must be one, and the place of a fault is that of the text', () => {
    expect(check('params.s', { s: 'string' }, 'boolean')).toMatchObject({ faults: [{ code: 'type_mismatch', offset: 0, length: 8 }] });
    expect(check('true && foo.bar', {}, 'boolean')).toMatchObject({ faults: [{ offset: 8, length: 3, hint: expect.stringContaining('"foo"') }] });
    expect(check('1 +', {})).toMatchObject({ faults: [{ code: 'bad_expression' }] });
    expect(checkTemplate('xx ${{ params.s + 1 }}', types({ s: 'string' }))).toMatchObject({ faults: [{ offset: 7 }] });
  });

  test('messages speak of what the user wrote', () => {
    const result = check('params.name.matches(3)', { name: 'string' });
    expect(result).toHaveProperty('faults');
    expect(JSON.stringify(result)).not.toMatch(/matchez|\b[snblmx]\d+\b/);
  });
});
