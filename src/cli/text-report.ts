// The report for people: steps as they end, lines that steps write, and at the end how it went. The root cause is last.
import { formatDuration } from '../core/duration.js';
import type { PlanEvent } from '../core/event.js';
import { isTerminal, type StepState } from '../core/step-state.js';
import type { OutputLine, SessionResult } from '../executor/session-handle.js';
import type { CliContext } from './cli-context.js';
import type { DriveReport } from './drive-report.js';
import { eventText } from './event-text.js';
import { createPaint, type Paint } from './paint.js';
import { endingText } from './ending-text.js';
import { safeLine } from './safe-text.js';
import { StatusLine, statusText, type WaitingStep } from './status-line.js';
import { plural } from './words.js';

// A step that runs longer than this without a word is announced.
const ANNOUNCE_MS = 500;
// Of steps that are skipped because of others, so many are named.
const SKIPS_SHOWN = 20;

export interface TextReportOptions {
  /** The first line, such as `session S: plan etl, 5 steps`. */
  title: string;
  /** Do not show what steps write. */
  quiet: boolean;
  /** Steps in the plan, where known. */
  steps: number | undefined;
}

interface Running {
  step_id: string;
  since: number;
  announced: boolean;
}

export class TextReport implements DriveReport {
  readonly #context: CliContext;
  readonly #options: TextReportOptions;
  readonly #paint: Paint;
  readonly #began: number;
  readonly #running = new Map<string, Running>();
  readonly #waiting = new Map<string, WaitingStep>();
  readonly #failed = new Map<string, StepState>();
  readonly #status: StatusLine | undefined;
  readonly #timer: NodeJS.Timeout;
  #titled = false;
  #ended = 0;
  #skips = 0;
  #dropped = 0;

  constructor(context: CliContext, options: TextReportOptions) {
    this.#context = context;
    this.#options = options;
    this.#paint = createPaint(context.out.colour);
    this.#began = context.clock.now();
    if (context.out.live) this.#status = new StatusLine(context.out, () => statusText([...this.#running.values()], [...this.#waiting.values()], this.#ended, options.steps, context.clock.now()));
    this.#timer = setInterval(() => this.#announce(), ANNOUNCE_MS / 2).unref();
  }

  event(event: PlanEvent): void {
    if (!this.#titled) {
      this.#titled = true;
      this.#line(this.#paint.bold(this.#options.title));
    }
    const { step, step_id: id } = event;
    if (id === undefined || step === undefined) return this.#sessionEvent(event);
    const until = step.status === 'retry_wait' ? step.next_retry_at : step.status === 'waiting_timer' ? step.wake_at : undefined;
    if (until === undefined) this.#waiting.delete(id);
    else this.#waiting.set(id, { step_id: id, until });
    if (step.status === 'running') {
      this.#running.set(id, { step_id: id, since: event.at, announced: false });
      return;
    }
    const since = this.#since(id, step);
    this.#running.delete(id);
    if (isTerminal(step)) this.#ended += 1;
    if (step.status === 'failed') this.#failed.set(id, step);
    else this.#failed.delete(id);
    if (event.type === 'step_reset') return;
    if (step.status === 'skipped' && step.reason.kind !== 'condition') {
      this.#skips += 1;
      if (this.#skips > SKIPS_SHOWN) return;
    }
    this.#line(`${id}: ${this.#paint.status(step.status, eventText(event, since))}`);
  }

  output({ step_id: id, line }: OutputLine): void {
    if (this.#options.quiet) return;
    const { out } = this.#context;
    if (out.full) {
      this.#dropped += 1;
      return;
    }
    this.#tellDropped();
    this.#line(`${this.#paint.dim(`${id} |`)} ${safeLine(line, out.colour)}`);
  }

  notice(text: string): void {
    this.#status?.clear();
    this.#context.err.line(text);
  }

  end(result: SessionResult): void {
    this.close();
    this.#tellDropped();
    if (this.#skips > SKIPS_SHOWN) this.#line(`${plural(this.#skips - SKIPS_SHOWN, 'more step')} skipped`);
    const failed = result.error?.step_id === undefined ? undefined : this.#failed.get(result.error.step_id);
    const tolerated = [...this.#failed.values()].filter((step) => step.status === 'failed' && step.tolerated).length;
    const others = Math.max(0, result.counts.failed - tolerated - 1);
    for (const line of endingText(this.#context, result, { took: this.#took(result), failed, others, paint: this.#paint })) this.#line(line);
  }

  // The same time that `plan show` tells: from the start of the session, whoever drove it.
  #took({ created_at: created, ended_at: ended }: SessionResult): string {
    const now = this.#context.clock.now();
    const whole = formatDuration(Math.max(0, (ended ?? now) - created));
    return this.#began > created ? `${whole} (${formatDuration(Math.max(0, now - this.#began))} in this run)` : whole;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#status?.close();
  }

  #sessionEvent(event: PlanEvent): void {
    switch (event.type) {
      case 'lease_acquired':
        if (event.data?.['took_over'] === true) this.#line(this.#paint.notice(eventText(event)));
        return;
      case 'session_waiting': {
        const { step, wake_at: until } = event.data ?? {};
        if (typeof step === 'string' && typeof until === 'number') this.#waiting.set(step, { step_id: step, until });
        return;
      }
      case 'session_retried':
      case 'budget_raised':
      case 'concurrency_limited':
      case 'cancel_requested':
        this.#line(this.#paint.notice(`${event.type}: ${eventText(event)}`));
        return;
      default:
        return;
    }
  }

  // Where an earlier drive began the step, when this one did.
  #since(id: string, { started_at: first }: StepState): number | undefined {
    return first !== undefined && first < this.#began ? this.#running.get(id)?.since : undefined;
  }

  // On a terminal the status line says what runs.
  #announce(): void {
    if (this.#status !== undefined) return;
    for (const running of this.#running.values()) {
      if (running.announced || this.#context.clock.now() - running.since < ANNOUNCE_MS) continue;
      running.announced = true;
      this.#line(`${running.step_id}: started`);
    }
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return;
    this.#line(this.#paint.notice(`(${plural(this.#dropped, 'line')} of output not shown here, because they are read too slowly; the logs have them)`));
    this.#dropped = 0;
  }

  #line(text: string): void {
    this.#status?.clear();
    this.#context.out.line(text);
  }
}
