import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { evaluateExpression } from '../../src/expression/evaluate.js';
import { ExpressionError } from '../../src/expression/expression-error.js';
import { scopeOf, value, type Steps } from './support.js';

const steps: Steps = {
  done: { status: 'completed', outputs: { x: 1, none: null }, result: { rows: [{ id: 7 }] } },
  maybe: { status: 'skipped' },
  'my-id': { status: 'completed', outputs: { x: 7 } },
};

describe('what may be absent', () => {
  test.each([
    ['has(steps.maybe.outputs.x) ? steps.maybe.outputs.x : 5', 5],
    ['has(steps.done.outputs.x) ? steps.done.outputs.x : 5', 1],
    ['has(steps.done.outputs.x) ? steps.done.outputs.x : null', 1],
    ['has(steps.maybe.outputs.x) ? steps.maybe.outputs.x : "none"', 'none'],
    ['default(steps.maybe.outputs.x, 3)', 3],
    ['default(steps.done.outputs.x, 3)', 1],
    ['default(steps.done.outputs.none, 3)', null],
    ['default(steps.done.result.rows[0].id, 0) + default(steps.done.result.rows[4].id, 1)', 8],
    ['default(env.NOPE, "eu")', 'eu'],
    ['steps.maybe.outputs.?x.orValue(3)', 3],
    ['steps.done.outputs.?x.orValue("three")', 1],
    ['steps.maybe.?outputs.x.orValue(3)', 3],
    ['steps.done.result.rows[0].?nope.orValue(9)', 9],
    ['steps.maybe.status == "completed" && steps.maybe.outputs.x == 1', false],
    ['steps.maybe.outputs.x == 1 || true', true],
    ['false && steps.maybe.outputs.x == 1', false],
    ['true ? 1 : steps.maybe.outputs.x', 1],
    ['!has(steps.maybe.outputs.x) || steps.maybe.outputs.x == 1', true],
    ['has(steps.done.result.rows[0].id)', true],
    ['has(steps.done.result.rows[1].id)', false],
    ['has(steps.maybe.result.rows[1].id)', false],
    ['has(steps.done.outputs.none)', true],
    ['has(steps["my-id"].outputs.x)', true],
    ['steps["my-id"].outputs.x', 7],
    ['steps["my-id"].outputs["x"] + 1', 8],
    ['(steps.done.outputs).x + 1', 2],
    ['steps.done.result.rows.filter(row, has(row.id) && !has(row.nope)).size()', 1],
    ['has(env.NOPE) ? env.NOPE : "none"', 'none'],
    ['env.HOME + session.id + plan.name + secrets.TOKEN', '/rootSpt'],
    ['steps.maybe.status', 'skipped'],
  ])('%s', (text, expected) => {
    expect(value(text, {}, steps)).toEqual(expected);
  });

  test.each([
    ['steps.maybe.outputs.x', 'steps.maybe.outputs.x is absent: steps.maybe was skipped (in: steps.maybe.outputs.x)'],
    ['1 + steps.maybe.outputs.x', 'steps.maybe.outputs.x is absent: steps.maybe was skipped (in: 1 + steps.maybe.outputs.x)'],
    ['steps["my-id"].outputs.y', 'steps["my-id"].outputs.y is absent: steps["my-id"] did not give it'],
    ['steps.done.result.rows[0].name', 'steps.done.result.rows[0].name is absent'],
    ['steps.done.result.rows[3]', 'steps.done.result.rows[3] is absent: index 3 of 1 items'],
    ['steps.nope.status', 'steps.nope.status is absent: steps.nope is not known here'],
    ['steps.done', 'steps.done is no value; read its status, outputs or result'],
    ['env.NOPE', 'env.NOPE is absent: the variable is not set'],
    ['session.status', 'session.status is absent'],
    ['params.a.b', 'params.a.b is absent'],
  ])('an unguarded read says what was absent and why: %s', (text, message) => {
    expect(() => value(text, { a: {} }, steps)).toThrow(message);
  });

  test('the error has the place of what was absent', () => {
    try {
      value('1 + steps.maybe.outputs.x', {}, steps);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ExpressionError);
      expect(error).toMatchObject({ expression: '1 + steps.maybe.outputs.x', offset: 4, length: 21 });
    }
  });

  test('only the steps that the evaluation comes to are asked for', () => {
    const asked: string[] = [];
    expect(evaluateExpression('steps.done.status == "completed" ? steps.done.outputs.x : steps.maybe.outputs.x', scopeOf({}, steps, asked))).toBe(1);
    expect(new Set(asked)).toEqual(new Set(['done']));
  });

  test('names of Object.prototype are ordinary names', () => {
    for (const name of ['toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf']) {
      expect(() => value(`params.${name}`)).toThrow(`params.${name} is absent`);
      expect(() => value(`steps.${name}.outputs.x`)).toThrow('is not known here');
      expect(() => value(`params.a.${name}`, { a: {} })).toThrow(`params.a.${name} is absent`);
      expect(() => value(`params.a["${name}"]`, { a: 'text' })).toThrow(/is absent/);
      expect(value(`has(params.a.${name})`, { a: {} })).toBe(false);
      expect(value(`"${name}" in params.a`, { a: {} })).toBe(false);
      const given = JSON.parse(`{"a": {"${name}": 1}, "l": [{"${name}": {"b": 2}}]}`) as JsonObject;
      expect(value(`params.a.${name} + 1`, given)).toBe(2);
      expect(value(`params.l[0].${name}.b`, given)).toBe(2);
      expect(value(`params.l.map(x, x.${name})`, given)).toEqual([{ b: 2 }]);
      expect(JSON.stringify(value('[params.a]', given))).toBe(`[{"${name}":1}]`);
    }
  });

  test('an object with a key that the library leaves out is refused, not made without it', () => {
    expect(() => value('{"constructor": 1}')).toThrow('cannot make an object with the key "constructor"');
    expect(() => value('{params.k: 1}', { k: '__proto__' })).toThrow('cannot make an object with the key "__proto__"');
    expect(value('{params.k: 1}', { k: 'toString' })).toEqual({ toString: 1 });
  });
});
