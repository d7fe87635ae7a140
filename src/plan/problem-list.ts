// Collects the problems of one file and puts them in file order.
import type { Problem } from './problem.js';
import type { SourceText } from './source-text.js';
import type { ProblemCode } from './problem-code.js';

export type PlanPath = readonly (string | number)[];

export interface Finding {
  severity?: 'error' | 'warning';
  code: ProblemCode;
  message: string;
  hint?: string | undefined;
  path: PlanPath;
  /** Offsets into the source. */
  start: number;
  end: number;
}

/** What is wrong with a reference; `told`: nothing can be said, since the definition itself is wrong. */
export type ReferenceFault = { code: ProblemCode; message: string; hint?: string | undefined } | 'told' | undefined;

export class ProblemList {
  readonly #findings: Finding[] = [];
  readonly #touched = new Set<string>();
  readonly #broken = new Set<string>();
  readonly #seen = new Set<string>();

  add(finding: Finding): void {
    // A mapping that several aliases bring in is read several times; its problems are told once.
    const identity = `${finding.code} ${finding.start} ${finding.message}`;
    if (this.#seen.has(identity)) return;
    this.#seen.add(identity);
    this.#findings.push(finding);
  }

  /** Notes that what stands at a path is not what the user meant, so that nothing is concluded from it. */
  damage(path: PlanPath): void {
    this.#broken.add(pathText(path));
    for (let length = 0; length <= path.length; length += 1) this.#touched.add(pathText(path.slice(0, length)));
  }

  /** Whether something at this path or below it is damaged. */
  isTouched(path: PlanPath): boolean {
    return this.#touched.size > 0 && this.#touched.has(pathText(path));
  }

  /** Whether exactly this place is damaged. */
  isBroken(path: PlanPath): boolean {
    return this.#broken.size > 0 && this.#broken.has(pathText(path));
  }

  get hasErrors(): boolean {
    return this.#findings.some((finding) => finding.severity !== 'warning');
  }

  get isEmpty(): boolean {
    return this.#findings.length === 0;
  }

  /** Keeps only the findings with this code, if there are any; says whether there are. */
  narrowTo(code: ProblemCode): boolean {
    const kept = this.#findings.filter((finding) => finding.code === code);
    if (kept.length > 0) this.#findings.splice(0, this.#findings.length, ...kept);
    return kept.length > 0;
  }

  /** All problems, in file order. */
  toProblems(source: SourceText, file: string): Problem[] {
    return this.#findings
      .map((finding, index) => ({ finding, index }))
      .sort((a, b) => a.finding.start - b.finding.start || a.index - b.index)
      .map(({ finding }) => problemOf(finding, source, file));
  }
}

export function problemOf(finding: Finding, source: SourceText, file: string): Problem {
  const from = source.positionOf(finding.start);
  const to = source.positionOf(finding.end);
  return {
    severity: finding.severity ?? 'error',
    code: finding.code,
    message: finding.message,
    ...(finding.hint === undefined ? {} : { hint: finding.hint }),
    file,
    line: from.line,
    column: from.column,
    end_line: to.line,
    end_column: to.column,
    path: pathText(finding.path),
    frame: source.frame(finding.start, finding.end),
  };
}

/** `steps.build.needs[0]` */
export function pathText(path: PlanPath): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : text === '' ? part : `.${part}`;
  return text;
}
