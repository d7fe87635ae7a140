// The text of a plan file by line: offsets to positions, and the frame that shows one.

const FRAME_WIDTH = 120;

export interface Position {
  line: number; // from 1
  column: number; // from 1, in UTF-16 units, as editors count
}

export class SourceText {
  readonly text: string;
  #lineStarts: number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  positionOf(offset: number): Position {
    const starts = this.#starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 };
  }

  /** The line before, the line itself, and a caret line; long lines are cut around the caret. */
  frame(start: number, end: number): string {
    const { line, column } = this.positionOf(start);
    const last = this.positionOf(Math.max(start, end - 1));
    const shown = this.#line(line);
    const width = last.line === line ? Math.max(1, end - start) : Math.max(1, shown.length - column + 1);
    const from = column > FRAME_WIDTH - 20 ? column - 40 : 0;
    const digits = String(line).length;
    const row = (number: number) => `${String(number).padStart(digits)} | ${cut(this.#line(number), from)}`;
    const caret = `${' '.repeat(digits)} | ${' '.repeat(column - 1 - from)}${'^'.repeat(Math.min(width, FRAME_WIDTH - (column - 1 - from)))}`;
    return [...(line > 1 ? [row(line - 1)] : []), row(line), caret].join('\n');
  }

  #line(number: number): string {
    const starts = this.#starts();
    const end = starts[number] ?? this.text.length;
    // One printable character for each control character: nothing in a file may reach the terminal as a command.
    return this.text
      .slice(starts[number - 1], end)
      .replace(/\r?\n$/, '')
      .replaceAll('\t', ' ')
      .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '\u00b7');
  }

  #starts(): number[] {
    if (this.#lineStarts === undefined) {
      const starts = [0];
      for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1);
      this.#lineStarts = starts;
    }
    return this.#lineStarts;
  }
}

function cut(line: string, from: number): string {
  const begin = from > 0 && line.length > from ? '…' : '';
  const shown = `${begin}${line.slice(from + begin.length, from + FRAME_WIDTH)}`;
  return line.length - from > FRAME_WIDTH ? `${shown}…` : shown;
}
