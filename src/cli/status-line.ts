// The line at the bottom of a terminal that says what runs right now. Everything else that is printed goes above it.
import { formatDuration } from '../core/duration.js';
import type { Output } from './output.js';
import { safeText } from './safe-text.js';

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

/** `2 running: build 12s, test 3.1s · 4 of 20 ended` */
export function statusText(running: readonly RunningStep[], ended: number, total: number | undefined, now: number): string {
  if (running.length === 0) return '';
  const shown = running.slice(0, 4).map(({ step_id: id, since }) => `${id} ${formatDuration(Math.max(0, now - since))}`);
  const more = running.length > 4 ? `, and ${running.length - 4} more` : '';
  return `${running.length} running: ${shown.join(', ')}${more} (${ended}${total === undefined ? '' : ` of ${total}`} ended)`;
}
