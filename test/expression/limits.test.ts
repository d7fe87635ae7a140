import { describe, expect, test } from 'vitest';
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
