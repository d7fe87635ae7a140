// Streams of step states for property tests: any status, old and new generations mixed, as no orderly run makes them.
import fc from 'fast-check';
import type { Change, PlanEvent } from '../../src/core/event.js';
import { foldUpdates, type StepUpdate } from '../../src/core/merge.js';
import type { StepState } from '../../src/core/step-state.js';
import { completed, failed, running } from './store-samples.js';

export function stepStates(): fc.Arbitrary<StepState> {
  const generation = fc.integer({ min: 1, max: 3 });
  const make: Array<(more: Partial<StepState>) => StepState> = [
    (more) => ({ status: 'pending', attempt: 0, failures: 0, interruptions: 0, ...more }) as StepState,
    (more) => running(more),
    (more) => running({ status: 'waiting_timer', wake_at: 1, ...more } as Partial<StepState>),
    (more) => completed('small', more),
    (more) => completed('long'.repeat(400), more),
    (more) => failed(more),
    (more) => running({ status: 'skipped', ended_at: 1, reason: { kind: 'condition' }, ...more } as Partial<StepState>),
  ];
  return fc.tuple(fc.constantFrom(...make), generation, fc.nat(5)).map(([state, g, attempt]) => state({ generation: g, attempt }));
}

/** Updates of a few steps with distinct seqs, as one session's events give them. */
export function stepUpdates(): fc.Arbitrary<StepUpdate[]> {
  const step = fc.record({ step_id: fc.constantFrom('a', 'b', 'toString', '__proto__'), state: stepStates() });
  return fc.array(step, { maxLength: 25 }).map((steps) => steps.map((one, i) => ({ ...one, seq: i + 1, epoch: 1 })));
}

/** The changes of several commits. */
export function changesOfSteps(): fc.Arbitrary<Change[][]> {
  const change = fc.record({
    type: fc.constant('step_started' as const),
    step_id: fc.constantFrom('a', 'b', 'c', '__proto__'),
    step: stepStates(),
  });
  return fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 10 });
}

export function foldOfEvents(events: PlanEvent[]): Map<string, StepUpdate> {
  const updates = events.flatMap((event) =>
    event.step && event.step_id !== undefined ? [{ step_id: event.step_id, seq: event.seq, epoch: event.epoch, state: event.step }] : [],
  );
  return foldUpdates(new Map(), updates);
}
