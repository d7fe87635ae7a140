// The plan as its author wrote it, after the schema check: every member may be missing (misfits were taken out), those
// that are there have these types. Only src/plan knows this form.
import type { JsonObject, JsonValue } from '../core/json.js';
import type { AfterGate } from '../graph/gate.js';
import type { EnvMap, ValueType } from './plan.js';

export interface AuthoredParam {
  type?: ValueType;
  description?: string;
  enum?: JsonValue[];
  pattern?: string;
  min?: number;
  max?: number;
  default?: JsonValue;
}

export interface AuthoredRetry {
  max_attempts?: number;
  backoff?: 'exponential' | 'constant';
  delay?: string;
  max_delay?: string;
  jitter?: boolean;
  retry_on?: string[];
  give_up_on?: string[];
  max_interruptions?: number;
}

export type AuthoredOutput = ValueType | { type?: ValueType; optional?: boolean };

export interface AuthoredHttp {
  method?: string;
  url?: string;
  headers?: { [name: string]: string };
  query?: { [name: string]: string };
  json?: JsonValue;
  body?: string;
  expect_status?: string[];
  follow_redirects?: boolean;
}

export interface AuthoredLimits {
  retry?: AuthoredRetry;
  timeout?: string;
  attempt_timeout?: string;
  kill_grace?: string;
  shell?: string | string[];
  cwd?: string;
}

export interface AuthoredStep extends AuthoredLimits {
  run?: string | string[];
  http?: AuthoredHttp;
  call?: { function?: string; args?: JsonValue };
  check?: string | boolean | { that?: string | boolean; message?: string };
  set?: JsonObject;
  wait?: { for?: string; until?: string };
  description?: string;
  needs?: string[];
  if?: string | boolean;
  after?: AfterGate;
  env?: EnvMap;
  stdin?: string;
  stdout?: 'text' | 'json' | 'lines';
  outputs?: { [name: string]: AuthoredOutput };
  continue_on_error?: boolean;
}

export interface AuthoredPlan {
  plan?: 1;
  name?: string;
  description?: string;
  params?: { [name: string]: AuthoredParam };
  env?: EnvMap;
  secrets?: string[];
  defaults?: AuthoredLimits;
  checkpoint_interval?: 'per_step' | 'per_layer';
  scheduling?: 'layered' | 'eager';
  on_failure?: 'stop' | 'continue';
  concurrency?: number;
  timeout?: string;
  budget?: { attempts?: number };
  steps?: { [id: string]: AuthoredStep };
  finally?: { [id: string]: AuthoredStep };
  outputs?: JsonObject;
}

export const KINDS = ['run', 'http', 'call', 'check', 'set', 'wait'] as const;
