// How an error is told: one line for people, one JSON line for programs that asked for JSON.
import { SessionHeldError, StoreError, UsageError } from '../core/error.js';
import type { JsonObject } from '../core/json.js';
import type { Problem } from '../plan/problem.js';
import type { CliContext } from './cli-context.js';
import { exitCodeOfError } from './exit-code.js';
import { problemText } from './problem-report.js';
import { oneLine, jsonLine } from './safe-text.js';

/** What the user asked for cannot be: several faults at once, all told. Exit code 2. */
export class UsageFaults extends UsageError {
  readonly faults: ReadonlyArray<{ code: string; message: string; hint?: string }>;
  constructor(code: string, faults: ReadonlyArray<{ code: string; message: string; hint?: string }>) {
    super(code, faults.map((fault) => fault.message).join('; '));
    this.name = 'UsageFaults';
    this.faults = faults;
  }
}

/** A plan file has problems. Exit code 2. */
export class InvalidPlanError extends UsageError {
  readonly problems: readonly Problem[];
  constructor(file: string, problems: readonly Problem[]) {
    const count = problems.filter((problem) => problem.severity === 'error').length;
    super('invalid_plan', `${file} has ${count} ${count === 1 ? 'problem' : 'problems'}; nothing was started`);
    this.name = 'InvalidPlanError';
    this.problems = problems;
  }
}

/** Tells an error on stderr, and on stdout as JSON where the command was asked for it; returns the exit code. */
export function reportError(context: CliContext, error: unknown, json: boolean): number {
  const { err } = context;
  const exitCode = exitCodeOfError(error);
  if (error instanceof InvalidPlanError) for (const problem of error.problems) err.text(problemText(problem));
  if (error instanceof UsageFaults) {
    for (const { message, hint } of error.faults) err.line(`error: ${oneLine(message)}${hint === undefined ? '' : `\n  hint: ${oneLine(hint)}`}`);
    err.line('nothing was started');
  } else err.line(`error: ${oneLine(messageOf(error), 4000)}`);
  if (context.env['PLAN_DEBUG'] === '1' && error instanceof Error) err.line(error.stack ?? '');
  else if (!isExpected(error)) err.line('  this is a fault of plan itself; with PLAN_DEBUG=1 it shows where');
  if (json) context.out.bytes(`${jsonLine(errorJson(error, exitCode))}\n`);
  return exitCode;
}

function errorJson(error: unknown, exitCode: number): JsonObject {
  return {
    type: 'error',
    code: codeOf(error),
    message: messageOf(error),
    exit_code: exitCode,
    ...(error instanceof SessionHeldError ? { session_id: error.sessionId, holder: error.holder } : {}),
    ...(error instanceof InvalidPlanError ? { problems: error.problems as unknown as JsonObject[] } : {}),
    ...(error instanceof UsageFaults ? { faults: error.faults as unknown as JsonObject[] } : {}),
  };
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return error.code;
  if (error instanceof SessionHeldError) return 'session_held';
  if (error instanceof StoreError) return `store_${error.fault}`;
  return isExpected(error) ? 'session_lost' : 'internal';
}

// Errors whose message was written for the user.
function isExpected(error: unknown): boolean {
  return exitCodeOfError(error) !== 1;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
