// A fault of an expression: where in its text, and what is wrong.

export class ExpressionError extends Error {
  /** The text that was evaluated or parsed. */
  readonly expression: string;
  /** Where in the text the fault begins, and how many characters it covers; undefined when it is the whole. */
  readonly offset: number | undefined;
  readonly length: number | undefined;
  /** What to do about it, where that is known. */
  readonly hint: string | undefined;

  /** The message without the expression, for where that is shown anyway. */
  readonly reason: string;

  constructor(message: string, expression: string, range?: { offset: number; length: number }, hint?: string, reason = message) {
    super(message);
    this.name = 'ExpressionError';
    this.expression = expression;
    this.offset = range?.offset;
    this.length = range?.length;
    this.hint = hint;
    this.reason = reason;
  }
}

/** An expression on one line, shortened, for a message. */
export function shown(expression: string): string {
  const line = expression.replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** The end of every message about an evaluation: which expression it was. */
export function inExpression(message: string, expression: string): string {
  return `${message} (in: ${shown(expression)})`;
}
