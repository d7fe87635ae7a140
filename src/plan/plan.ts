// The canonical plan: what everyone but `plan/` reads. Frozen, complete (defaults applied, durations in ms), JSON.
// The YAML a user writes is another thing, see load.ts; `plan_hash` is the digest of this one.
import type { JsonObject, JsonValue } from '../core/json.js';
import type { AfterGate } from '../graph/gate.js';

export const VALUE_TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

export interface ParamSpec {
  type: ValueType;
  description?: string;
  enum?: JsonValue[];
  pattern?: string;
  min?: number; // of a number; of the length of a string or array
  max?: number;
  default?: JsonValue; // without it the param is required
}

/** A declared output of a step; `optional` ones may be absent. */
export interface OutputSpec {
  type: ValueType;
  optional: boolean;
}

/** Text in which `${{ }}` parts are still to be resolved; one whole `${{ }}` keeps the type of its value. */
export type Template = string;
/** JSON whose strings are templates. */
export type TemplateValue = JsonValue;
/** A CEL expression, without the `${{ }}` around it. */
export type Expression = string;

/** Value of an environment variable; null passes the host's variable of that name through. */
export type EnvMap = { [name: string]: Template | null };

export interface RetryPolicy {
  max_attempts: number; // total tries; 1 = none again
  backoff: 'exponential' | 'constant';
  delay: number; // ms
  max_delay: number; // ms
  jitter: boolean;
  /** Classes that are tried again: `transient`, `timeout`, `any`, `exit:75`, `http:429`, `http:5xx`. */
  retry_on: string[];
  give_up_on: string[];
  /** Interruptions of one step after which the session is a dead letter. */
  max_interruptions: number;
}

export interface RunAction {
  kind: 'run';
  /** A script for `shell`, or an argument vector that no shell sees. */
  script?: string;
  argv?: Template[];
}
export interface HttpAction {
  kind: 'http';
  method: string;
  url: Template;
  headers: { [name: string]: Template };
  query: { [name: string]: Template };
  json?: TemplateValue;
  body?: Template;
  /** Statuses that are a success; `2xx` by default. */
  expect_status: string[];
  follow_redirects: boolean;
}
export interface CallAction {
  kind: 'call';
  /** A registered name, or `./module.js#export` relative to the plan file. */
  function: string;
  args: TemplateValue;
}
export interface CheckAction {
  kind: 'check';
  that: Expression;
  message?: Template;
}
export interface SetAction {
  kind: 'set';
  values: { [name: string]: TemplateValue };
}
export interface WaitAction {
  kind: 'wait';
  for?: Template; // a duration, resolved when the step begins
  until?: Template; // an ISO 8601 time with offset
}
export type StepAction = RunAction | HttpAction | CallAction | CheckAction | SetAction | WaitAction;
export type StepKind = StepAction['kind'];

export interface StepSpec {
  id: string;
  /** True for steps under `finally`. */
  finally: boolean;
  /** Explicit and inferred edges, in order of first mention, each once. */
  needs: string[];
  /** Those of `needs` that only a `${{ }}` reference made. */
  inferred_needs: string[];
  if?: Expression;
  after: AfterGate;
  env: EnvMap;
  cwd?: Template;
  shell?: string[]; // command line before the script, such as [bash, -euo, pipefail, -c]; default: chosen at run time
  stdin?: Template;
  stdout?: 'text' | 'json' | 'lines';
  outputs: { [name: string]: OutputSpec };
  retry: RetryPolicy;
  timeout?: number; // ms, whole step with its retries
  attempt_timeout?: number; // ms, one try
  kill_grace: number; // ms between TERM and KILL
  continue_on_error: boolean;
  action: StepAction;
  /** Secrets that this step's own fields reference. */
  secrets: string[];
  /** sha256 of the canonical JSON of everything above. */
  step_hash: string;
}

export interface Plan {
  plan: 1;
  name: string;
  description?: string;
  params: { [name: string]: ParamSpec };
  env: EnvMap;
  secrets: string[];
  checkpoint_interval: 'per_step' | 'per_layer';
  scheduling: 'layered' | 'eager';
  /** After a failure that nothing tolerates: `stop` starts no unrelated step, `continue` runs every branch to its end. */
  on_failure: 'stop' | 'continue';
  concurrency: number;
  timeout?: number; // ms, whole session
  budget: { attempts?: number };
  /** In the order of the file; `steps` before `finally`. */
  steps: StepSpec[];
  outputs: { [name: string]: TemplateValue };
  /** Host environment variables that the plan reads (`env.X` undeclared, or `X: null`). */
  host_env: string[];
  plan_hash: string;
}

/** The whole plan as JSON, the form that the store keeps; `parsePlanJson` is its inverse. */
export type PlanJson = JsonObject;
