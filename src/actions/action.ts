// A step kind: how one attempt of it is sent. The executor knows kinds only through this port and the registry.
import type { Clock } from '../core/clock.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import type { StepOutput } from '../core/step-state.js';
import type { LogSummary } from '../core/log-summary.js';
import type { StepAction, StepKind, StepSpec } from '../plan/plan.js';
import type { Masker } from '../process/masker.js';

/** Resolves the templates and expressions of a step against what is known when the attempt begins. */
export interface InputResolver {
  /** A template whose result must be text (numbers and booleans become their text). */
  text(template: string, path: string): string;
  /** JSON whose strings are templates. */
  value(template: JsonValue, path: string): JsonValue;
  /** An expression that must give a boolean. */
  condition(expression: string, path: string): boolean;
}

/** What one attempt may use. */
export interface AttemptContext {
  session_id: string;
  step: StepSpec;
  generation: number;
  attempt: number;
  epoch: number;
  /** Absolute base folder of the plan. */
  base_dir: string;
  /** The environment that the step declares (plan and step `env`, resolved); without the base. */
  env: { [name: string]: string };
  resolve: InputResolver;
  clock: Clock;
  /** Wall time when the drive began, and on evenly from there, ms: lengths of time are counted from it. */
  now: () => number;
  masker: Masker;
  /** Aborts on cancel, interrupt, timeout; `signal.reason` is an AbortCause. */
  signal: AbortSignal;
  /** Aborts when the end must come now: whatever grace is running is over. */
  hurry: AbortSignal;
  /** Where the base environment of commands comes from; default: this process's environment. */
  host_env?: { [name: string]: string | undefined };
  /** File for this attempt's log; undefined when the store keeps no files. Beside it, `<log>.pid` while a process runs. */
  log_path: string | undefined;
  /** One whole masked line of output, as it comes; for live display. */
  onLine?: (stream: 'stdout' | 'stderr', line: string) => void;
  /** Marks every process of this attempt, so that orphans can be found: value of PLAN_ATTEMPT_ID, see process/process-tag.ts. */
  process_tag: string;
  functions: FunctionTable;
}

/** Why an attempt's signal aborted. */
export type AbortCause =
  | { kind: 'attempt_timeout' | 'step_timeout' | 'session_timeout'; limit_ms: number }
  | { kind: 'cancelled'; actor: string; reason: string }
  | { kind: 'interrupted' } // the driver stops, the session stays resumable
  | { kind: 'lease_lost' };

/** A host function for `call`; gets the resolved args and returns JSON. */
export type PlanFunction = (args: JsonValue, context: FunctionContext) => unknown;
export interface FunctionContext {
  session_id: string;
  step_id: string;
  attempt: number;
  signal: AbortSignal;
  /** Writes a line to the step's log. */
  log: (line: string) => void;
}
export type FunctionTable = ReadonlyMap<string, PlanFunction>;

export type ActionOutcome =
  | { kind: 'completed'; output: StepOutput; log?: LogSummary }
  /** Nothing to do until then (by `now`; for `wait: until` by wall time): the attempt ends, the step waits, holding no worker. On wake it completes with `output`. */
  | { kind: 'waiting_timer'; wake_at: number; output: StepOutput };

/** An ActionError may carry the log of the attempt that failed. */
export interface Action<A extends StepAction = StepAction> {
  readonly kind: A['kind'];
  /** Runs one attempt to its end. Throws ActionError; whatever else it throws is classed by `asActionError`. */
  execute(action: A, context: AttemptContext): Promise<ActionOutcome>;
}

/** An action of some kind, as lists of them hold it. */
export type AnyAction = { [K in StepKind]: Action<Extract<StepAction, { kind: K }>> }[StepKind];

export type ActionDetails = JsonObject;
