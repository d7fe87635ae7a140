// What a command that drives a session shows of it, while it runs and at its end.
import type { PlanEvent } from '../core/event.js';
import type { OutputLine, SessionResult } from '../executor/session-handle.js';
import type { CliContext } from './cli-context.js';
import { exitCodeOf } from './exit-code.js';
import { jsonLine } from './safe-text.js';

export interface DriveReport {
  event(event: PlanEvent): void;
  /** A whole line that a step wrote. */
  output(line: OutputLine): void;
  /** Something to tell the person at the keyboard, whatever the report is. */
  notice(text: string): void;
  end(result: SessionResult): void;
  /** Takes away what is only shown while the session runs; called in every ending. */
  close(): void;
}

/** `--json`: the events of the drive, one a line, and at the end a line of type `result`. */
export class JsonReport implements DriveReport {
  readonly #context: CliContext;
  constructor(context: CliContext) {
    this.#context = context;
  }
  event(event: PlanEvent): void {
    this.#context.out.bytes(`${jsonLine(event)}\n`);
  }
  output(): void {}
  notice(text: string): void {
    this.#context.err.line(text);
  }
  end(result: SessionResult): void {
    this.#context.out.bytes(`${jsonLine({ type: 'result', ...result, exit_code: exitCodeOf(result) })}\n`);
  }
  close(): void {}
}
