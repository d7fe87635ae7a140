// plan validate FILE...: checks plans, runs nothing.
import { resolve } from 'node:path';
import { loadPlan } from '../../plan/load.js';
import type { Problem } from '../../plan/problem.js';
import type { CliContext } from '../cli-context.js';
import { EXIT } from '../exit-code.js';
import { createPaint } from '../paint.js';
import { problemText } from '../problem-report.js';
import { jsonLine, oneLine } from '../safe-text.js';
import { plural } from '../words.js';

interface FileReport {
  file: string;
  ok: boolean;
  plan?: { name: string; plan_hash: string; steps: number; finally_steps: number };
  /** Errors and warnings in file order. */
  problems: Problem[];
}

export async function validate(context: CliContext, files: string[], options: { json?: boolean }): Promise<number> {
  const reports: FileReport[] = [];
  const seen = new Set<string>();
  for (const file of files) {
    if (seen.has(resolve(context.cwd, file))) continue;
    seen.add(resolve(context.cwd, file));
    const report = await check(file);
    reports.push(report);
    if (options.json !== true) printReport(context, report);
  }
  const ok = reports.every((report) => report.ok);
  if (options.json === true) context.out.bytes(`${jsonLine({ ok, files: reports })}\n`);
  return ok ? EXIT.completed : EXIT.usage;
}

async function check(file: string): Promise<FileReport> {
  const loaded = await loadPlan(file, { functions: [] });
  if (!loaded.ok) return { file, ok: false, problems: loaded.problems };
  const { plan, warnings } = loaded;
  const last = plan.steps.filter((step) => step.finally).length;
  return { file, ok: true, plan: { name: plan.name, plan_hash: plan.plan_hash, steps: plan.steps.length - last, finally_steps: last }, problems: warnings };
}

function printReport({ out }: CliContext, { file, ok, plan, problems }: FileReport): void {
  const paint = createPaint(out.colour);
  for (const problem of problems) out.text(problemText(problem));
  const errors = problems.filter((problem) => problem.severity === 'error').length;
  if (ok && plan !== undefined) {
    const last = plan.finally_steps === 0 ? '' : ` and ${plan.finally_steps} under finally`;
    out.line(`${oneLine(file)}: ${paint.good('ok')} (plan ${oneLine(plan.name, 100)}, ${plural(plan.steps, 'step')}${last})`);
  } else out.line(`${oneLine(file)}: ${paint.bad(plural(errors, 'problem'))}`);
}
