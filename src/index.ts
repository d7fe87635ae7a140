// Planwright's public API, in reading order.

// A plan: YAML in, canonical plan out.
export { loadPlan, type LoadedPlan, type LoadOptions, type LoadResult, type PlanInput } from './plan/load.js';
export { bindParams } from './plan/bind-params.js';
export type * from './plan/plan.js';
export type { Problem } from './plan/problem.js';

// Running it.
export { PlanExecutor, type PlanExecutorOptions } from './executor/plan-executor.js';
export type {
  CancelOptions,
  CancelResult,
  DriveOptions,
  OutputLine,
  ResumeOptions,
  RetryOptions,
  RunOptions,
  SessionHandle,
  SessionResult,
} from './executor/session-handle.js';

// Step kinds and host functions.
export type {
  AbortCause,
  Action,
  ActionOutcome,
  AnyAction,
  AttemptContext,
  FunctionContext,
  InputResolver,
  PlanFunction,
} from './actions/action.js';

// States, events, errors.
export type * from './core/step-state.js';
export type * from './core/session-state.js';
export type { Change, CommitReason, EventType, PlanEvent } from './core/event.js';
export {
  ActionError,
  CancelRequestedError,
  PermanentError,
  SessionHeldError,
  StaleEpochError,
  StoreError,
  TransientError,
  UsageError,
  type ErrorClass,
  type ErrorRecord,
} from './core/error.js';
export { systemClock, type Clock } from './core/clock.js';
export type { JsonObject, JsonValue } from './core/json.js';

// What may start next, as a pure function.
export { frontierOf, type FrontierAnswer } from './graph/frontier.js';
export { shapeOf, type PlanShape } from './graph/plan-shape.js';

// The store port; stores themselves are in subpaths: `planwright/sqlite`.
export type * from './store/store.js';
export { auditSession, type AuditReport } from './store/audit.js';
