import { describe, expect, test } from 'vitest';
import { checkExpression, checkTemplate, type ExpressionFault, type ExpressionType } from '../../src/expression/check.js';
import { typesOf } from './support.js';

const declared: { [name: string]: ExpressionType } = { n: 'integer', d: 'number', s: 'string', b: 'boolean', l: 'array', o: 'object', result_h: 'http_result' };
const check = (text: string, expected?: 'boolean') => checkExpression(text, typesOf(declared), expected);

/** The only fault, with the text that it points at. */
function fault(text: string, expected?: 'boolean'): ExpressionFault & { at: string } {
  const result = check(text, expected);
  if (!('faults' in result)) return expect.unreachable(`no fault in ${text}`);
  expect(result.faults).toHaveLength(1);
  const [one] = result.faults as [ExpressionFault];
  return { ...one, at: text.slice(one.offset, one.offset + one.length) };
}

describe('types', () => {
  test.each<[string, ExpressionType]>([
    ['params.n', 'integer'],
    ['params.n + 1', 'integer'],
    ['params.n + 1.5', 'number'],
    ['params.n / 2', 'number'],
    ['10 / 4', 'number'],
    ['params.d * 2', 'number'],
    ['size(params.l)', 'integer'],
    ['params.s == "a"', 'boolean'],
    ['params.n > params.d', 'boolean'],
    ['params.s + "!"', 'string'],
    ['steps.a.outputs.s', 'string'],
    ['steps.a.status', 'string'],
    ['steps.a.result', 'any'],
    ['steps.a.result.rows > 3', 'boolean'],
    ['steps.h.result', 'object'],
    ['steps.h.result.body.x', 'any'],
    ['params.l.map(x, x + 1)', 'array'],
    ['{"a": params.n}', 'object'],
    ['has(params.n) ? params.n : 0', 'integer'],
    ['has(params.n) ? params.n : 0.5', 'number'],
    ['has(params.n) ? params.n : null', 'any'],
    ['default(params.n, 0)', 'number'],
    ['default(params.n, "none")', 'any'],
    ['null', 'null'],
    ['toJson(params.o)', 'string'],
    ['params.l[params.n]', 'any'],
    ['params.s.substring(params.n)', 'string'],
    ['timestamp("2024-01-01T00:00:00Z")', 'string'],
  ])('%s is %s', (text, type) => {
    expect(check(text)).toEqual({ type });
  });

  test.each([
    ['params.s + 1', 'type_mismatch', 'params.s + 1', '"+" cannot be used on text and number', 'string(…)'],
    ['1 + (params.s * 2)', 'type_mismatch', 'params.s * 2', '"*" cannot be used on text and number', 'double(…)'],
    ['params.b && params.s > 3', 'type_mismatch', 'params.s > 3', '">" cannot compare text and number', 'double(…)'],
    ['params.n == "1"', 'type_mismatch', 'params.n == "1"', '"==" cannot compare number and text', 'double(…)'],
    ['params.s && true', 'type_mismatch', 'params.s && true', '"&&" and "||" take true or false, not text', 'compare it'],
    ['!params.n', 'type_mismatch', '!params.n', '"!" takes true or false, not number', undefined],
    ['params.n ? 1 : 2', 'type_mismatch', 'params.n', 'what stands before "?" must be true or false, not number', undefined],
    ['params.s.name', 'type_mismatch', 'params.s.name', 'text has no members: params.s.name', undefined],
    ['params.n.startsWith("a")', 'type_mismatch', 'params.n.startsWith("a")', 'startsWith() cannot be used on number with text', undefined],
    ['params.s.matches(3)', 'type_mismatch', 'params.s.matches(3)', 'matches() cannot be used on text with number', undefined],
    ['lower(params.l)', 'type_mismatch', 'lower(params.l)', 'lower() does not take array', undefined],
    ['{1: 2}', 'type_mismatch', '{1: 2}', 'the keys of an object are text, not number', 'quotes'],
    ['steps.a.outputs.?x', 'type_mismatch', 'steps.a.outputs.?x', 'the value may be absent', '.orValue'],
    ['parms.n > 1', 'unknown_name', 'parms', 'there is no name "parms"', 'did you mean "params"?'],
    ['params.s == prod', 'unknown_name', 'prod', 'there is no name "prod"', 'text stands in quotes: "prod"'],
    ['params.l.map(item, itm + 1)', 'unknown_name', 'itm', 'there is no name "itm"', 'did you mean "item"?'],
    ['lowr(params.s)', 'unknown_name', 'lowr', 'there is no function "lowr"', 'did you mean "lower"?'],
    ['_n(1)', 'unknown_name', '_n', 'there is no function "_n"', undefined],
    ['params.s.startWith("a")', 'unknown_name', 'startWith', 'there is no method "startWith"', 'did you mean "startsWith"?'],
    ['params.s.lower()', 'unknown_name', 'lower', 'there is no method "lower"', 'write lower(x)'],
    ['startsWith(params.s, "a")', 'unknown_name', 'startsWith', 'there is no function "startsWith"', 'x.startsWith(…)'],
    ['size()', 'bad_expression', 'size', 'size() takes 1 argument, this has 0', undefined],
    ['has(params)', 'bad_expression', 'params', 'has() asks for a path', 'has(steps.a.outputs.x)'],
    ['steps.a.outputz.x', 'bad_expression', 'steps.a.outputz', 'a step has no "outputz"', 'did you mean "outputs"?'],
    ['steps.a.image', 'bad_expression', 'steps.a.image', 'a step has no "image"', 'outputs.image'],
    ['steps.h.result.stauts == 200', 'unknown_name', 'stauts', 'the result of an http step has no "stauts"', 'did you mean "status"?'],
    ['type(params.n) == int', 'unknown_name', 'int', 'there is no type "int"', 'double'],
    ['steps.my-id.outputs.x', 'unknown_name', 'steps.my-id', 'steps.my-id is a subtraction, not a step', 'write steps["my-id"].outputs.x'],
    ['params.s.matches("(?=a)")', 'bad_pattern', '"(?=a)"', 'RE2', undefined],
    ['params.s.matches("(a)\\\\1")', 'bad_pattern', '"(a)\\\\1"', 'RE2', undefined],
    ['params.n > 3 and params.b', 'bad_expression', 'and', 'unexpected "and"', 'write &&'],
    ['params.n = 3', 'bad_expression', '=', 'unexpected "="', 'write =='],
    ['params?.n', 'bad_expression', '.', 'unexpected "."', '.?name'],
    ['(1 + 2', 'bad_expression', '', 'expected ")", got the end', undefined],
    ['"abc', 'bad_expression', '"abc', 'unterminated string', undefined],
    ['9007199254740993', 'bad_expression', '9007199254740993', 'too large', 'quotes'],
  ])('%s is refused at its place', (text, code, at, message, hint) => {
    const found = fault(text);
    expect(found).toMatchObject({ code, at });
    expect(found.message).toContain(message);
    if (hint === undefined) return;
    expect(found.hint).toContain(hint);
  });

  test('a condition must be one', () => {
    expect(fault('params.s', 'boolean')).toMatchObject({ at: 'params.s', message: 'expected true or false, this is text: params.s' });
    expect(fault('params.n + 1', 'boolean')).toMatchObject({ hint: 'compare it: … > 0' });
    expect(check('params.b', 'boolean')).toEqual({ type: 'boolean' });
    expect(check('steps.a.result', 'boolean')).toEqual({ type: 'any' });
  });

  test('a template is text, or what its one expression is, and null is no text', () => {
    const template = (text: string, wanted?: 'text') => checkTemplate(text, typesOf(declared), wanted);
    expect(template('n is ${{ params.n }}')).toEqual({ type: 'string' });
    expect(template('${{ params.n }}')).toEqual({ type: 'integer' });
    expect(template('${{ params.n }}', 'text')).toEqual({ type: 'string' });
    expect(template('${{ null }}')).toEqual({ type: 'null' });
    expect(template('${{ null }}', 'text')).toMatchObject({ faults: [{ code: 'type_mismatch', offset: 4, length: 4 }] });
    expect(template('xx ${{ params.s + 1 }} ${{ parms.n }}')).toMatchObject({ faults: [{ offset: 7, length: 12 }, { offset: 27, length: 5 }] });
    expect(template('${{ params.n')).toMatchObject({ faults: [{ code: 'bad_expression', offset: 0 }] });
  });

  test('all unknown names of an expression are told at once', () => {
    expect(check('parms.a + lowr(foo)')).toMatchObject({ faults: [{ offset: 0 }, { offset: 10 }, { offset: 15 }] });
  });

  test('types are asked for by name, for no step that the expression does not read', () => {
    const asked: string[] = [];
    const environment = { param: () => 'any' as const, output: (id: string, name: string) => (asked.push(`${id}.${name}`), 'integer' as const), result: () => 'any' as const };
    expect(checkExpression('steps.a.outputs.x > 1 && steps.b.status == "completed"', environment)).toEqual({ type: 'boolean' });
    expect(new Set(asked)).toEqual(new Set(['a.x']));
  });
});
