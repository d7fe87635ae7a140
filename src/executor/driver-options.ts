// What a driver is given.
import type { Clock } from '../core/clock.js';
import type { PlanShape } from '../graph/plan-shape.js';
import type { Plan } from '../plan/plan.js';
import type { StepRunContext } from './run-step.js';
import type { SessionRecord } from './session-record.js';

export interface DriverOptions {
  plan: Plan;
  shape: PlanShape;
  record: SessionRecord;
  run: StepRunContext;
  clock: Clock;
  maxWaitMs: number | undefined;
  /** Aborted by the driver when what runs must end without grace. */
  hurry: AbortController;
  /** Ends whatever processes of this session still run, those that left their group included. */
  endProcesses: () => Promise<void>;
}
