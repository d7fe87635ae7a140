// Problems of a plan file, as text.
import type { Problem } from '../plan/problem.js';
import { oneLine, safeText } from './safe-text.js';

/** `file:line:col: error[code]: message`, the frame, the hint. Ends with a line end. */
export function problemText(problem: Problem): string {
  const place = problem.frame === '' ? problem.file : `${problem.file}:${problem.line}:${problem.column}`;
  const lines = [`${oneLine(place)}: ${problem.severity}[${problem.code}]: ${oneLine(problem.message)}`];
  if (problem.frame !== '') lines.push(...safeText(problem.frame).split('\n').map((line) => `  ${line}`));
  if (problem.hint !== undefined) lines.push(`  hint: ${oneLine(problem.hint)}`);
  return `${lines.join('\n')}\n`;
}
