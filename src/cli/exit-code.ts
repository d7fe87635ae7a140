// What a command tells its caller by its exit code; docs/exit-codes.md explains each.
import { SessionHeldError, StaleEpochError, StoreError, UsageError } from '../core/error.js';
import type { SessionStatus } from '../core/session-state.js';

export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  waiting: 3,
  cancelled: 5,
  held: 6,
  store: 7,
  interrupted: 130,
} as const;

/** The exit code of a command that drove a session until it stood like this. */
export function exitCodeOf(result: { status: SessionStatus; interrupted: boolean }): number {
  switch (result.status) {
    case 'completed':
      return EXIT.completed;
    case 'failed':
    case 'expired':
    case 'dead_letter':
      return EXIT.failed;
    case 'cancelled':
      return EXIT.cancelled;
    case 'retry_wait':
    case 'waiting_timer':
    case 'paused_budget':
      return result.interrupted ? EXIT.interrupted : EXIT.waiting;
    case 'ready':
    case 'running':
      return EXIT.interrupted;
  }
}

/** The exit code of a command that ended with an error. */
export function exitCodeOfError(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof SessionHeldError || error instanceof StaleEpochError) return EXIT.held;
  if (error instanceof StoreError) return EXIT.store;
  return EXIT.failed;
}
