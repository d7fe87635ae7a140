// `plan show` for people.
import { formatDuration } from '../core/duration.js';
import { isTerminalSession } from '../core/session-state.js';
import { nextLines, othersText, valueLines } from './ending-text.js';
import { cancelledText } from './event-text.js';
import type { Paint } from './paint.js';
import { oneLine, safeLine } from './safe-text.js';
import { shownStatus } from './session-head.js';
import type { SessionView, StepView } from './session-view.js';
import { tableLines, tableWidth } from './table.js';
import { countsText, dateTime, errorTail, errorText, plural, skipText, timeAhead } from './words.js';

// Of a large plan the steps that say something are listed, and at most so many.
const MOST_ROWS = 200;
const NOTE_LENGTH = 160;

/** @param width columns of the terminal, so that a step is one line of it; undefined: no terminal */
export function sessionText(view: SessionView, now: number, paint: Paint, width?: number): string[] {
  return [...headLines(view, now, paint), '', ...stepLines(view, now, paint, width), ...endLines(view, paint)];
}

function headLines(view: SessionView, now: number, paint: Paint): string[] {
  const status = shownStatus(view);
  const rows: Array<[string, string]> = [
    ['plan', `${oneLine(view.plan_name, 100)} (${oneLine(view.plan_file, 200)}), ${plural(view.steps.length, 'step')}, ${view.plan_hash.slice(0, 12)}`],
    ['started', `${dateTime(view.created_at)}${view.ended_at === undefined ? '' : `, ended ${dateTime(view.ended_at)}, took ${formatDuration(view.ended_at - view.created_at)}`}`],
  ];
  if (view.attempts_limit !== undefined) rows.push(['attempts', `${view.attempts_used} of ${view.attempts_limit}`]);
  if (view.generation > 1) rows.push(['generation', String(view.generation)]);
  if (view.deadline_at !== undefined && !isTerminalSession(view.status)) rows.push(['deadline', timeAhead(view.deadline_at, now)]);
  const params = Object.entries(view.params).map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  if (params.length > 0) rows.push(['params', oneLine(params.join(' '), 300)]);
  if (view.owner !== undefined) rows.push(['owner', ownerText(view.owner)]);
  if (view.cancel !== undefined) rows.push(['cancel', `asked by ${oneLine(view.cancel.actor)} at ${dateTime(view.cancel.requested_at)}: ${oneLine(view.cancel.reason)}`]);
  if (view.waiting !== undefined) rows.push(['waiting', `${waitingText(view.waiting, now)}${view.owner === undefined && view.waiting.for !== 'budget' ? '; nobody drives the session meanwhile' : ''}`]);
  return [
    paint.bold(`session ${view.session_id}: ${paint.status(status, status)}${status === 'interrupted' ? ` (stored as ${view.status})` : ''}`),
    ...rows.map(([name, text]) => `  ${paint.dim(name.padEnd(10))}  ${text}`),
  ];
}

function ownerText(owner: NonNullable<SessionView['owner']>): string {
  const life = { alive: 'it drives the session', stopped: 'it is stopped by a signal', dead: 'it is gone', unknown: 'whether it lives cannot be told here' }[owner.state];
  return `process ${owner.pid} on ${oneLine(owner.host, 100)}: ${life}`;
}

function waitingText(waiting: NonNullable<SessionView['waiting']>, now: number): string {
  switch (waiting.for) {
    case 'budget':
      return 'for a larger budget of attempts';
    case 'retry':
      return `for the next try of ${waiting.step_id}, at ${timeAhead(waiting.until ?? now, now)}`;
    case 'timer':
      return `for ${waiting.step_id}, until ${timeAhead(waiting.until ?? now, now)}`;
  }
}

function stepLines(view: SessionView, now: number, paint: Paint, width: number | undefined): string[] {
  const all = view.steps.length <= MOST_ROWS;
  const telling = all ? view.steps : view.steps.filter((step) => step.status !== 'completed' && step.status !== 'pending');
  const shown = telling.slice(0, MOST_ROWS);
  const titles = ['STEP', 'STATUS', 'TRIES', 'TOOK'];
  const facts = shown.map((step) => [step.id, shownStep(view, step), attemptsText(step), step.duration_ms === undefined ? '-' : formatDuration(step.duration_ms)]);
  const room = width === undefined ? NOTE_LENGTH : Math.max(20, width - tableWidth(titles, facts) - 2);
  const rows = facts.map((row, index) => [...row, oneLine(noteOf(shown[index] as StepView, now), room)]);
  const lines = rows.length === 0 ? [] : tableLines([...titles, ''], rows, (text, row, column) => {
    if (row < 0) return paint.dim(text);
    return column === 1 ? paint.status(shownStep(view, shown[row] as StepView), text) : text;
  });
  const hidden = view.steps.length - shown.length;
  return hidden === 0 ? lines : [...lines, `${plural(hidden, 'step')} not listed here (in all ${countsText(view.counts)}); with --json every one is`];
}

// Nobody runs what an interrupted session has as running.
function shownStep(view: SessionView, step: StepView): StepView['status'] | 'interrupted' {
  return view.interrupted && step.status === 'running' ? 'interrupted' : step.status;
}

// An attempt that runs is charged as an interruption until it ends.
function attemptsText(step: StepView): string {
  const cut = step.interruptions - (step.status === 'running' ? 1 : 0);
  const tries = step.attempt - cut;
  const parts = [...(tries > 0 ? [step.max_attempts > 1 ? `${tries} of ${step.max_attempts}` : String(tries)] : []), ...(cut > 0 ? [`${cut} cut short`] : [])];
  return parts.length === 0 ? '-' : parts.join(', ');
}

function noteOf(step: StepView, now: number): string {
  if (step.skip_reason !== undefined) return skipText(step.skip_reason);
  if (step.cancel_reason !== undefined) return cancelledText(step.cancel_reason);
  if (step.next_retry_at !== undefined) return `next try at ${timeAhead(step.next_retry_at, now)}${step.error === undefined ? '' : `; ${errorText(step.error)}`}`;
  if (step.wake_at !== undefined) return `until ${timeAhead(step.wake_at, now)}`;
  if (step.error !== undefined) return `${step.tolerated === true ? 'tolerated: ' : ''}${errorText(step.error)}`;
  if (step.large_output !== undefined) return `${step.large_output.bytes} bytes: ${step.large_output.preview}`;
  const outputs = Object.entries(step.outputs ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return step.result == null || outputs.length > 0 ? outputs.join(' ') : JSON.stringify(step.result);
}

function endLines(view: SessionView, paint: Paint): string[] {
  const lines: string[] = [];
  if (view.outputs !== undefined && Object.keys(view.outputs).length > 0) lines.push('', 'outputs:', ...valueLines(view.outputs));
  if (view.large_outputs !== undefined) lines.push('', `outputs: ${view.large_outputs.bytes} bytes: ${oneLine(view.large_outputs.preview, NOTE_LENGTH)}`);
  if (view.error !== undefined && view.status !== 'cancelled') {
    const tail = errorTail(view.error);
    const step = view.error.step_id;
    if (tail.length > 0) lines.push('', `the last output of ${step}:`, ...tail.map((line) => `  ${safeLine(line)}`));
    lines.push('', `${paint.bad('root cause:')} ${step === undefined || view.status !== 'failed' ? '' : `step ${step} failed: `}${errorText(view.error)}`);
    if (view.status === 'failed') lines.push(...othersText(view.steps.filter(({ status, tolerated }) => status === 'failed' && tolerated !== true).length - 1));
  }
  if (view.next.length > 0) lines.push('', 'next:', ...nextLines(view.next));
  return lines;
}

/** One step with all it gave. */
export function stepText(view: SessionView, step: StepView, now: number, paint: Paint): string[] {
  const status = shownStep(view, step);
  const rows: Array<[string, string]> = [
    ['kind', `${step.kind}${step.finally ? ', under finally' : ''}`],
    ['needs', step.needs.length === 0 ? 'nothing' : step.needs.join(', ')],
    ['tries', `${attemptsText(step)} (generation ${step.generation})`],
  ];
  if (step.started_at !== undefined) rows.push(['started', `${dateTime(step.started_at)}, took ${formatDuration(step.duration_ms ?? 0)}`]);
  if (step.verdict !== undefined) rows.push(['if', String(step.verdict)]);
  if (step.log !== undefined) rows.push(['log', `${step.log.bytes} bytes${step.log.truncated ? `, ${step.log.kept} kept` : ''}${step.log.path === undefined ? '' : `: ${step.log.path}`}`]);
  const note = noteOf({ ...step, outputs: {}, result: null }, now);
  if (note !== '') rows.push(['why', note]);
  const lines = [paint.bold(`step ${step.id} of session ${view.session_id}: ${paint.status(status, status)}`), ...rows.map(([name, text]) => `  ${paint.dim(name.padEnd(10))}  ${text}`)];
  if (step.outputs !== undefined && Object.keys(step.outputs).length > 0) lines.push('', 'outputs:', ...valueLines(step.outputs, 2000));
  if (step.result != null) lines.push('', 'result:', ...(typeof step.result === 'string' ? step.result : JSON.stringify(step.result, null, 2)).split('\n').map((line) => `  ${safeLine(line)}`));
  const tail = step.error === undefined ? [] : errorTail(step.error);
  if (tail.length > 0) lines.push('', 'its last output:', ...tail.map((line) => `  ${safeLine(line)}`));
  return lines;
}
