// A problem of a plan file: returned, never thrown. All problems of a file are reported at once.
import type { ProblemCode } from './problem-code.js';

export interface Problem {
  severity: 'error' | 'warning';
  /** Stable word for programs: `unknown_key`, `cycle`, `unknown_step`, … */
  code: ProblemCode;
  /** What was expected and what was found, one line. */
  message: string;
  /** What to do about it, one line. */
  hint?: string;
  file: string;
  line: number; // from 1
  column: number; // from 1
  end_line: number;
  end_column: number;
  /** Where in the plan: `steps.deploy.retry.max_attempts`. */
  path: string;
  /** The lines around it with a caret, ready to print. */
  frame: string;
}
