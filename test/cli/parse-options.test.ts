import { describe, expect, test } from 'vitest';
import { parseAssignments, parseBudget, parseCount, parseWait } from '../../src/cli/parse-options.js';

describe('options', () => {
  test('an assignment keeps everything behind the first "=", and may be empty', () => {
    expect({ ...parseAssignments('--param', ['a=1=2', 'b=', 'toString=x', '__proto__=y']) }).toEqual(Object.fromEntries([['a', '1=2'], ['b', ''], ['toString', 'x'], ['__proto__', 'y']]));
  });

  test('an assignment without a name or a value, or given twice, is refused', () => {
    for (const texts of [['a'], ['=1'], [''], ['a=1', 'a=2']]) expect(() => parseAssignments('--param', texts)).toThrow(/--param/);
  });

  test('a duration needs a unit, but zero is zero', () => {
    expect(parseWait('--max-wait', '1m30s')).toBe(90_000);
    expect(parseWait('--max-wait', '0')).toBe(0);
    for (const text of ['5', '-1s', '', 'soon']) expect(() => parseWait('--max-wait', text)).toThrow('--max-wait expects a duration');
  });

  test('a count is a whole number in range', () => {
    expect(parseCount('--limit', '10', 1)).toBe(10);
    for (const text of ['0', '-1', '1.5', '1e3', '', '99999999999999999999']) expect(() => parseCount('--limit', text, 1)).toThrow('--limit');
  });

  test('a budget is one of attempts', () => {
    expect(parseBudget(['attempts=5'])).toEqual({ attempts: 5 });
    expect(() => parseBudget(['cost=5'])).toThrow('attempts=N');
    expect(() => parseBudget(['attempts=0'])).toThrow('from 1');
  });
});
