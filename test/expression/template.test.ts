import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { ExpressionError } from '../../src/expression/expression-error.js';
import { evaluateTemplate, evaluateText, evaluateValue } from '../../src/expression/template.js';
import { literalTemplate, parseTemplate } from '../../src/expression/template-text.js';
import { scopeOf } from './support.js';

const scope = scopeOf({ n: 3, list: [1], o: { a: 1 }, none: null, s: 'x', half: 0.5, big: 1e21 });

describe('templates', () => {
  test('one whole expression keeps the type of its value, anything else is text', () => {
    expect(evaluateTemplate('${{ params.n }}', scope)).toBe(3);
    expect(evaluateTemplate('${{ params.none }}', scope)).toBe(null);
    expect(evaluateTemplate('${{params.list}}', scope)).toEqual([1]);
    expect(evaluateTemplate('n=${{ params.n }}', scope)).toBe('n=3');
    expect(evaluateTemplate(' ${{ params.n }}', scope)).toBe(' 3');
    expect(evaluateTemplate('${{ params.n }}${{ params.n }}', scope)).toBe('33');
    expect(evaluateTemplate('no expression', scope)).toBe('no expression');
  });

  test('text of values: strings as they are, numbers and booleans as JSON writes them, the rest as JSON', () => {
    expect(evaluateText('${{ params.s }} ${{ params.half }} ${{ params.big }} ${{ true }} ${{ params.list }} ${{ params.o }}', scope)).toBe('x 0.5 1e+21 true [1] {"a":1}');
    expect(evaluateText('${{ params.n }}', scope)).toBe('3');
  });

  test('null is no text', () => {
    expect(() => evaluateText('${{ params.none }}', scope)).toThrow('expected text, got null (in: params.none)');
    expect(() => evaluateTemplate('a${{ null }}', scope)).toThrow('expected text, got null');
  });

  test.each([
    ['${{ "}}" + "${{" }}', '}}${{'],
    ["${{ 'it is }} \\' }}' }}", "it is }} ' }}"],
    ['${{ """a "}}" b""" }}', 'a "}}" b'],
    ['${{ {"a": {"b": params.n}}.a.b }}', 3],
    ['${{ {"a": {"b": {"c": 1}}}}}', { a: { b: { c: 1 } } }],
    ['${{ [{}, {"x": "}"}] }}', [{}, { x: '}' }]],
    ['${{ params.n // a comment, with "quotes" and { \n + 1 }}', 4],
    ['${{ params.n // it ends here }}', 3],
    ['${{\n  params.n\n  + 1\n}}', 4],
    ['}} ${{ params.n }} }}', '}} 3 }}'],
    ['$${{ params.n }}', '${{ params.n }}'],
    ['$${{ not closed', '${{ not closed'],
    ['a $${{ b ${{ params.n }}', 'a ${{ b 3'],
    ['$$${{', '$${{'],
    ['${ {', '${ {'],
    ['$$', '$$'],
  ])('%s', (text, expected) => {
    expect(evaluateTemplate(text, scope)).toEqual(expected);
  });

  test.each([
    ['a ${{ params.n', 2, 'this ${{ is not closed by }}'],
    ['${{ params.n }', 0, 'this ${{ is not closed by }}'],
    ['${{ 1 }} ${{ {"a": 1 }}', 9, 'this ${{ is not closed by }}'],
    ['${{ "abc }}', 4, 'a string in this expression is not closed'],
    ['x ${{ }}', 2, 'there is no expression between ${{ and }}'],
  ])('a fault has its place: %s', (text, offset, message) => {
    for (const attempt of [() => parseTemplate(text), () => evaluateText(text, scope)]) {
      try {
        attempt();
        expect.unreachable();
      } catch (error) {
        expect(error).toBeInstanceOf(ExpressionError);
        expect(error).toMatchObject({ message, offset });
      }
    }
  });

  test('every string in a JSON value is a template; keys are not', () => {
    expect(evaluateValue({ a: ['${{ params.n }}', 'x${{ params.n }}', 4, null, true], '${{ params.n }}': { b: '${{ params.o }}' } }, scope)).toEqual({
      a: [3, 'x3', 4, null, true],
      '${{ params.n }}': { b: { a: 1 } },
    });
    const odd = JSON.parse('{"__proto__": "${{ params.n }}", "constructor": "c"}') as JsonObject;
    expect(JSON.stringify(evaluateValue(odd, scope))).toBe('{"__proto__":3,"constructor":"c"}');
  });

  const text = fc.array(fc.constantFrom('$', '{', '}', '${{', '}}', '$${{', '"', "'", ' ', 'a', '\\', '\n', 'é', '😀'), { maxLength: 12 }).map((parts) => parts.join(''));

  test('a text without ${{ is itself, and any text is itself when it is escaped', () => {
    fc.assert(
      fc.property(text, (any) => {
        expect(evaluateTemplate(literalTemplate(any), scope)).toBe(any);
        if (!any.includes('${{')) expect(evaluateTemplate(any, scope)).toBe(any);
      }),
      { numRuns: 500 },
    );
  });

  test('parts keep their order and place, whatever stands in them', () => {
    fc.assert(
      fc.property(text, text, text, (before, inside, after) => {
        fc.pre(!before.endsWith('$'));
        const written = `"${inside.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;
        const template = `${literalTemplate(before)}\${{ ${written} }}${literalTemplate(after)}`;
        expect(evaluateText(template, scope)).toBe(before + inside + after);
        for (const part of parseTemplate(template).parts) if ('expression' in part) expect(template.startsWith(part.expression, part.offset)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
