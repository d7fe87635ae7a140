// What the endings of a step's needs mean for it. Pure; one step at a time.
import type { SkipReason, StepState } from '../core/step-state.js';

/** How the needs of a step must have ended for it to run. */
export type AfterGate = 'success' | 'failure' | 'any';

/** How a step ended, as its dependents see it; undefined while it has not. */
export type Ending =
  | { kind: 'success' }
  | { kind: 'tolerated'; by: string } // failed with continue_on_error
  | { kind: 'failure'; by: string } // failed, cancelled, or skipped because of a failure; `by` is the root
  | { kind: 'skip'; by: string } // skipped on purpose
  | { kind: 'stopped'; by: string }; // never started, since the session stopped after the failure of `by`

export function endingOf(id: string, state: StepState): Ending | undefined {
  switch (state.status) {
    case 'completed':
      return { kind: 'success' };
    case 'failed':
      return { kind: state.tolerated ? 'tolerated' : 'failure', by: id };
    case 'cancelled':
      return { kind: 'failure', by: id };
    case 'skipped':
      switch (state.reason.kind) {
        case 'upstream_failed':
          return { kind: 'failure', by: state.reason.by };
        case 'stopped':
          return { kind: 'stopped', by: state.reason.by };
        default:
          return { kind: 'skip', by: id };
      }
    default:
      return undefined;
  }
}

export type Gate = { gate: 'wait' } | { gate: 'open' } | { gate: 'skip'; reason: SkipReason };

/**
 * Whether a step may start as far as its needs go.
 * `success`: all needs completed (or failed tolerated). `failure`: all ended, at least one by a failure. `any`: all ended.
 * A need that can never succeed decides before the others end, so that a failure shows its consequences at once.
 * @param stoppedBy the failed step after which unrelated steps no longer start, if the session stopped
 */
export function gateOf(after: AfterGate, needs: ReadonlyArray<Ending | undefined>, stoppedBy: string | undefined): Gate {
  if (after === 'success') {
    const failed = needs.find((need) => need?.kind === 'failure');
    if (failed?.kind === 'failure') return { gate: 'skip', reason: { kind: 'upstream_failed', by: failed.by } };
    const stopped = needs.find((need) => need?.kind === 'stopped');
    if (stopped?.kind === 'stopped') return { gate: 'skip', reason: { kind: 'stopped', by: stopped.by } };
    const skipped = needs.find((need) => need?.kind === 'skip');
    if (skipped?.kind === 'skip') return { gate: 'skip', reason: { kind: 'upstream_skipped', by: skipped.by } };
    if (needs.includes(undefined)) return { gate: 'wait' };
    return stoppedBy === undefined ? { gate: 'open' } : { gate: 'skip', reason: { kind: 'stopped', by: stoppedBy } };
  }
  if (needs.includes(undefined)) return { gate: 'wait' };
  if (after === 'any') return { gate: 'open' };
  const failed = needs.some((need) => need?.kind === 'failure' || need?.kind === 'tolerated');
  return failed ? { gate: 'open' } : { gate: 'skip', reason: { kind: 'gate', after } };
}
