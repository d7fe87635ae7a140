// The line at the bottom of a terminal that says what runs right now. Everything else that is printed goes above it.
import { formatDuration } from '../core/duration.js';
import type { Output } from './output.js';
import { safeText } from './safe-text.js';
import { timeAhead } from './words.js';

const REDRAW_MS = 250;
const CLEAR = '\r\u001b[2K';

export interface RunningStep {
  step_id: string;
  since: number;
}

export class StatusLine {
  readonly #out: Output;
  readonly #text: () => string;
  readonly #timer: NodeJS.Timeout;
  #drawn = '';

  /** @param text what to show now; '' for nothing */
  constructor(out: Output, text: () => string) {
    this.#out = out;
    this.#text = text;
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS).unref();
  }

  /** To be called before anything else is printed on this terminal. */
  clear(): void {
    if (this.#drawn === '') return;
    this.#drawn = '';
    this.#out.bytes(CLEAR);
  }

  close(): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #draw(): void {
    // A line that is too long would wrap, and could not be cleared.
    const text = safeText(this.#text()).slice(0, Math.max(0, this.#out.columns - 1));
    if (text === this.#drawn || !this.#out.live) return;
    this.clear();
    this.#drawn = text;
    this.#out.bytes(text);
  }
}

/** A step that waits for its time: the next try, or the end of a wait. */
export interface WaitingStep {
  step_id: string;
  until: number;
}

/** `2 running: build 12s, test 3.1s (4 of 20 ended)`; while nothing runs, `waiting for bake, until 09:30:12 (in 4.0s) (…)`. */
export function statusText(running: readonly RunningStep[], waiting: readonly WaitingStep[], ended: number, total: number | undefined, now: number): string {
  const counts = `(${ended}${total === undefined ? '' : ` of ${total}`} ended)`;
  if (running.length > 0) {
    const shown = running.slice(0, 4).map(({ step_id: id, since }) => `${id} ${formatDuration(Math.max(0, now - since))}`);
    return `${running.length} running: ${shown.join(', ')}${running.length > 4 ? `, and ${running.length - 4} more` : ''} ${counts}`;
  }
  const first = waiting.reduce<WaitingStep | undefined>((least, step) => (least === undefined || step.until < least.until ? step : least), undefined);
  if (first === undefined) return '';
  const more = waiting.length > 1 ? ` and ${waiting.length - 1} more` : '';
  return `waiting for ${first.step_id}, until ${timeAhead(first.until, now)}${more} ${counts}`;
}
