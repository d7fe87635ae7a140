// The last lines of a drive: how the session stands, what it gave, the root cause, what to type next.
import type { JsonValue } from '../core/json.js';
import type { StepState } from '../core/step-state.js';
import type { SessionResult } from '../executor/session-handle.js';
import type { CliContext } from './cli-context.js';
import { nextCommands, type NextCommand } from './next-commands.js';
import type { Paint } from './paint.js';
import { oneLine, safeLine } from './safe-text.js';
import { storeOption } from './store-path.js';
import { countsText, errorTail, errorText, timeAhead } from './words.js';

/**
 * @param extra `failed`: the last state of the step that the session failed of; `others`: how many steps failed beside
 * it, tolerated ones not counted; `took`: how long the session took
 */
export function endingText(context: CliContext, result: SessionResult, extra: { took: string; failed: StepState | undefined; others: number; paint: Paint }): string[] {
  const { paint } = extra;
  const store = storeOption(context);
  const lines = ['', paint.bold(paint.status(result.interrupted ? 'interrupted' : result.status, headline(result, extra.took)))];
  if (result.outputs !== undefined) lines.push(...valueLines(result.outputs));
  if (result.wake_at !== undefined) lines.push(`it goes on at ${timeAhead(result.wake_at, context.clock.now())}, when somebody resumes it`);
  lines.push(...causeText(context, result, extra));
  const next = nextCommands({ ...result, step_id: result.error?.step_id, interrupted: result.status !== 'running' || result.interrupted }, store);
  lines.push(...nextLines(next.filter(({ command }) => !command.startsWith('plan cancel'))));
  return lines;
}

function headline(result: SessionResult, took: string): string {
  const status = result.interrupted ? 'interrupted' : result.status;
  return `session ${result.session_id}: ${status} after ${took}: ${countsText(result.counts)}`;
}

function causeText(context: CliContext, result: SessionResult, { failed, others, paint }: { failed: StepState | undefined; others: number; paint: Paint }): string[] {
  const { error, session_id: session } = result;
  if (error === undefined || result.status === 'cancelled') return [];
  const step = error.step_id;
  if (step === undefined || result.status !== 'failed') return ['', `${paint.bad('root cause:')} ${errorText(error)}`];
  const tail = errorTail(error);
  const tries = failed !== undefined && failed.attempt > 1 ? ` (attempt ${failed.attempt})` : '';
  const log = failed?.status === 'failed' && (failed.log?.bytes ?? 0) > 0;
  return [
    ...(tail.length === 0 ? [] : ['', `the last output of ${step}:`, ...tail.map((line) => `  ${safeLine(line, context.out.colour)}`)]),
    '',
    `${paint.bad('root cause:')} step ${paint.bold(step)} failed${tries}: ${errorText(error)}`,
    ...othersText(others),
    ...(log ? nextLines([{ command: `plan logs ${session} ${step}${storeOption(context)}`, why: 'all it wrote' }]) : []),
  ];
}

/** That the root cause, the first failure, was not the only one. */
export function othersText(others: number): string[] {
  return others <= 0 ? [] : [`  and ${others} ${others === 1 ? 'other step' : 'other steps'} failed after it`];
}

/** Commands to type, each with what it does. */
export function nextLines(commands: readonly NextCommand[]): string[] {
  return commands.map(({ command, why }) => `  ${command.padEnd(30)}  ${why}`);
}

/** `  name: value`, long values cut. */
export function valueLines(values: { readonly [name: string]: JsonValue }, longest = 200): string[] {
  return Object.entries(values).map(([name, value]) => `  ${name}: ${oneLine(typeof value === 'string' ? value : JSON.stringify(value), longest)}`);
}
