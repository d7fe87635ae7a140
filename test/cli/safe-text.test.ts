import { describe, expect, test } from 'vitest';
import { jsonLine, oneLine, safeLine, safeText } from '../../src/cli/safe-text.js';

const ESC = '\u001b';

describe('text on its way to a terminal', () => {
  test('loses every escape sequence, whatever form it has', () => {
    const sequences = [`${ESC}[2J`, `${ESC}[1;31m`, `${ESC}]0;title\u0007`, `${ESC}]8;;http://x${ESC}\\`, `${ESC}c`, `${ESC}(B`, '\u009b2J', `${ESC}Pq#0${ESC}\\`, '\u009d0;title\u009c'];
    for (const sequence of sequences) expect(safeText(`a${sequence}b`), JSON.stringify(sequence)).toBe('ab');
  });

  test('keeps colours where they are asked for, and nothing else', () => {
    expect(safeText(`${ESC}[31mred${ESC}[0m${ESC}[2J${ESC}[5A`, true)).toBe(`${ESC}[31mred${ESC}[0m`);
  });

  test('shows other control characters and direction marks as a dot, but keeps tab and line end', () => {
    expect(safeText('a\u0007b\u0000c\u007fd\u0085e\u202ef\tg\nh')).toBe('a·b·c·d·e·f\tg\nh');
  });

  test('cannot be tricked by a sequence that is cut, nested or unfinished', () => {
    for (const text of [`${ESC}[`, `${ESC}]0;never ended`, `${ESC}${ESC}[2J`, `${ESC}[${ESC}[2J2J`, ESC]) {
      expect(safeText(text), JSON.stringify(text)).not.toContain(ESC);
      expect(safeText(text, true), JSON.stringify(text)).not.toMatch(new RegExp(`${ESC}(?!\\[[0-9;:]*m)`));
    }
  });

  test('a line drawn over itself shows what was left of it', () => {
    expect(safeLine('10%\r50%\r100%')).toBe('100%');
    expect(safeLine('100%\r')).toBe('100%');
  });

  test('a coloured line ends its colour', () => {
    expect(safeLine(`${ESC}[31mred`, true)).toBe(`${ESC}[31mred${ESC}[0m`);
  });

  test('a message is one line, and not endless', () => {
    expect(oneLine('a\n  b\n')).toBe('a | b');
    expect(oneLine('x'.repeat(50), 10)).toHaveLength(10);
  });

  test('JSON has no raw control characters and is the same value', () => {
    const value = { text: `${ESC}[2J\u009b2J\u2028\u007f` };
    expect(jsonLine(value)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028]/);
    expect(JSON.parse(jsonLine(value))).toEqual(value);
  });
});
