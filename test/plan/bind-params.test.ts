import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/core/json.js';
import { bindParams } from '../../src/plan/bind-params.js';
import type { ParamSpec } from '../../src/plan/plan.js';

const bind = (params: { [name: string]: ParamSpec }, given: { [name: string]: JsonValue } = {}, texts: { [name: string]: string } = {}) => bindParams({ params }, given, texts);

describe('texts are read by the type of the param', () => {
  const rows: Array<[type: ParamSpec['type'], text: string, value: JsonValue | undefined]> = [
    ['string', ' 3.10 ', ' 3.10 '],
    ['string', '', ''],
    ['integer', '42', 42],
    ['integer', '-0', 0],
    ['integer', '4.0', undefined],
    ['integer', '0x10', undefined],
    ['integer', '12345678901234567890', undefined],
    ['number', '1e3', 1000],
    ['number', '.5', 0.5],
    ['number', 'NaN', undefined],
    ['number', '', undefined],
    ['boolean', 'true', true],
    ['boolean', 'yes', undefined],
    ['array', '["a", 1]', ['a', 1]],
    ['array', 'a,b', undefined],
    ['array', '{}', undefined],
    ['object', '{"a": 1}', { a: 1 }],
    ['object', 'null', undefined],
  ];
  test.each(rows)('%s: "%s"', (type, text, value) => {
    const bound = bind({ p: { type } }, {}, { p: text });
    if (value === undefined) expect(bound).toMatchObject({ ok: false, problems: [{ code: 'bad_param', param: 'p' }] });
    else expect(bound).toEqual({ ok: true, params: { p: value } });
  });
});

test('defaults fill in; a text wins over a given value; the order is that of the plan', () => {
  const bound = bind({ a: { type: 'string', default: 'x' }, b: { type: 'integer' }, c: { type: 'boolean', default: false } }, { b: 1, c: true }, { b: '2' });
  expect(bound).toEqual({ ok: true, params: { a: 'x', b: 2, c: true } });
  expect(bound.ok && Object.keys(bound.params)).toEqual(['a', 'b', 'c']);
});

test('all problems come at once: unknown names, missing values, limits', () => {
  const bound = bind(
    {
      target: { type: 'string', enum: ['staging', 'prod'] },
      count: { type: 'integer', min: 1, max: 3 },
      tag: { type: 'string', pattern: '^v[0-9]+$' },
      list: { type: 'array', max: 1 },
      needed: { type: 'string' },
    },
    { list: [1, 2], tag: 'x', constructor: 1 as JsonValue },
    { target: 'prd', count: '4', traget: 'x' },
  );
  expect(!bound.ok && bound.problems).toEqual([
    { code: 'unknown_param', param: 'constructor', message: 'the plan has no param "constructor"', hint: 'the plan has: target, count, tag, list, needed' },
    { code: 'unknown_param', param: 'traget', message: 'the plan has no param "traget"', hint: 'did you mean "target"?' },
    { code: 'bad_param', param: 'target', message: 'param target: expected "staging" or "prod", found "prd"', hint: 'did you mean "prod"?' },
    { code: 'bad_param', param: 'count', message: 'param count: expected a number up to 3, found 4' },
    { code: 'bad_param', param: 'tag', message: 'param tag: expected a text that matches ^v[0-9]+$, found "x"' },
    { code: 'bad_param', param: 'list', message: 'param list: expected a number of items up to 1, found 2' },
    { code: 'missing_param', param: 'needed', message: 'param needed: a value is needed (text)', hint: 'give it by --param needed=…' },
  ]);
});

test('what is no JSON is refused', () => {
  expect(bind({ p: { type: 'object' } }, { p: { at: new Date(0) } as unknown as JsonValue })).toMatchObject({ ok: false, problems: [{ code: 'bad_param' }] });
  expect(bind({ p: { type: 'number' } }, { p: Number.NaN })).toMatchObject({ ok: false });
});

test('a pattern takes linear time', () => {
  const bound = bind({ p: { type: 'string', pattern: '^(a+)+$' } }, { p: `${'a'.repeat(50_000)}!` });
  expect(bound).toMatchObject({ ok: false });
});

test('a JSON text of a value binds to the value', () => {
  fc.assert(
    fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), (value) => {
      const text = JSON.stringify(value);
      const type = Array.isArray(value) ? 'array' : 'object';
      expect(bind({ p: { type } }, {}, { p: text })).toEqual({ ok: true, params: { p: JSON.parse(text) } });
    }),
  );
});
