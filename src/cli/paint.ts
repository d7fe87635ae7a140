// Colours by meaning; without colour every function gives its text back.
import pc from 'picocolors';
import type { SessionStatus } from '../core/session-state.js';
import type { StepStatus } from '../core/step-state.js';

export type Painter = (text: string) => string;

export interface Paint {
  bold: Painter;
  dim: Painter;
  good: Painter;
  bad: Painter;
  notice: Painter;
  status(status: StepStatus | SessionStatus | 'interrupted', text?: string): string;
}

export function createPaint(colour: boolean): Paint {
  const { bold, dim, green, red, yellow } = pc.createColors(colour);
  const paint = { bold, dim, good: green, bad: red, notice: yellow };
  return {
    ...paint,
    status(status, text = status) {
      switch (status) {
        case 'completed':
          return paint.good(text);
        case 'failed':
        case 'expired':
        case 'dead_letter':
          return paint.bad(text);
        case 'skipped':
        case 'pending':
        case 'ready':
          return paint.dim(text);
        case 'running':
          return text;
        default:
          return paint.notice(text);
      }
    },
  };
}
