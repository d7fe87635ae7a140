// A fault of an expression: where in its text, and what is wrong.

export class ExpressionError extends Error {
  /** The text that was evaluated or parsed. */
  readonly expression: string;
  /** Where in the text the fault begins, and how many characters it covers; undefined when it is the whole. */
  readonly offset: number | undefined;
  readonly length: number | undefined;

  constructor(message: string, expression: string, range?: { offset: number; length: number }) {
    super(message);
    this.name = 'ExpressionError';
    this.expression = expression;
    this.offset = range?.offset;
    this.length = range?.length;
  }
}

/** An expression on one line, shortened, for a message. */
export function shown(expression: string): string {
  const line = expression.replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
