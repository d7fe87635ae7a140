// The authored form to the canonical one: defaults applied, durations in ms, hashes made. Everything was checked before.
import { basename } from 'node:path';
import { parseDuration } from '../core/duration.js';
import { canonicalJson, sha256, type JsonValue } from '../core/json.js';
import type { AuthoredLimits, AuthoredParam, AuthoredPlan, AuthoredRetry, AuthoredStep } from './authored.js';
import { bareExpression } from './bare-expression.js';
import type { EnvMap, OutputSpec, ParamSpec, Plan, RetryPolicy, StepAction, StepSpec } from './plan.js';
import type { StepDraft } from './step-draft.js';

const DEFAULT_KILL_GRACE = 10_000;
// One for all: a plan of 50,000 steps has many empty mappings.
const EMPTY = Object.freeze(Object.create(null)) as Record<string, never>;

/** The frozen plan. */
export function normalizePlan(authored: AuthoredPlan, drafts: Iterable<StepDraft>, hostEnv: readonly string[]): Plan {
  const defaults = authored.defaults ?? {};
  const texts: string[] = [];
  const secrets = [...new Set(authored.secrets ?? [])];
  const steps = [...drafts].map((draft) => {
    const { step, text } = stepSpec(draft, defaults, secrets);
    texts.push(text);
    return step;
  });
  const head: Omit<Plan, 'plan_hash' | 'steps' | 'timeout'> = {
    plan: 1,
    name: authored.name as string,
    ...optional('description', authored.description),
    params: mapEntries(authored.params ?? EMPTY, (_, param) => paramSpec(param)),
    env: envMap(authored.env, secrets),
    secrets,
    checkpoint_interval: authored.checkpoint_interval ?? 'per_step',
    scheduling: authored.scheduling ?? 'layered',
    on_failure: authored.on_failure ?? 'stop',
    concurrency: authored.concurrency ?? 8,
    budget: { ...optional('attempts', authored.budget?.attempts) },
    outputs: authored.outputs ?? EMPTY,
    host_env: [...hostEnv].sort(),
  };
  const timeout = ms(authored.timeout);
  // The canonical text of the whole, made of the parts that exist already: `steps` and `timeout` are its last members.
  const text = `${canonicalJson(head as unknown as JsonValue).slice(0, -1)},"steps":[${texts.join(',')}]${timeout === undefined ? '' : `,"timeout":${timeout}`}}`;
  return deepFreeze({ ...head, ...optional('timeout', timeout), steps, plan_hash: sha256(text) });
}

function paramSpec(authored: AuthoredParam): ParamSpec {
  return { ...authored } as ParamSpec;
}

// Members in the order of their names, so that the canonical text needs no sorting.
function stepSpec(draft: StepDraft, defaults: AuthoredLimits, secrets: readonly string[]): { step: StepSpec; text: string } {
  const { authored } = draft;
  const isScript = typeof authored.run === 'string';
  const cwd = authored.cwd ?? (draft.kind === 'run' ? defaults.cwd : undefined);
  const shell = isScript ? (authored.shell ?? defaults.shell) : undefined;
  const timeout = ms(authored.timeout ?? defaults.timeout);
  const head: Omit<StepSpec, 'step_hash' | 'timeout'> = {
    action: actionOf(authored),
    after: authored.after ?? 'success',
    ...optional('attempt_timeout', ms(authored.attempt_timeout ?? defaults.attempt_timeout)),
    continue_on_error: authored.continue_on_error ?? false,
    ...optional('cwd', cwd),
    env: envMap(authored.env, secrets),
    finally: draft.finally,
    id: draft.id,
    ...optional('if', authored.if === undefined ? undefined : bareExpression(authored.if)),
    inferred_needs: draft.inferred,
    kill_grace: ms(authored.kill_grace ?? defaults.kill_grace) ?? DEFAULT_KILL_GRACE,
    needs: draft.needs,
    outputs: outputSpecs(draft),
    retry: retryPolicy(authored.retry, defaults.retry),
    secrets: draft.secrets,
    ...optional('shell', shell === undefined ? undefined : shellCommand(shell)),
    ...optional('stdin', authored.stdin),
    ...optional('stdout', authored.stdout),
  };
  const open = canonicalJson(head as unknown as JsonValue).slice(0, -1);
  const close = timeout === undefined ? '}' : `,"timeout":${timeout}}`;
  const step_hash = sha256(open + close);
  return { step: { ...head, step_hash, ...optional('timeout', timeout) }, text: `${open},"step_hash":"${step_hash}"${close}` };
}

// A secret that is passed through is read when it is needed, as secrets are, and not stored as variables of the host are.
function envMap(env: EnvMap | undefined, secrets: readonly string[]): EnvMap {
  if (env === undefined) return EMPTY;
  if (!secrets.some((name) => Object.hasOwn(env, name) && env[name] === null)) return env;
  return mapEntries(env, (name, value) => (value === null && secrets.includes(name) ? `\${{ secrets.${name} }}` : value));
}

function outputSpecs(draft: StepDraft): { [name: string]: OutputSpec } {
  if (draft.outputs.size === 0) return EMPTY;
  const specs = nullPrototype<OutputSpec>();
  for (const [name, { type, optional: mayMiss }] of draft.outputs) if (type !== undefined) specs[name] = { type, optional: mayMiss };
  return specs;
}

function actionOf(step: AuthoredStep): StepAction {
  if (step.run !== undefined) return typeof step.run === 'string' ? { kind: 'run', script: step.run } : { kind: 'run', argv: step.run };
  if (step.http !== undefined) {
    const { http } = step;
    return {
      kind: 'http',
      method: (http.method ?? 'GET').toUpperCase(),
      url: http.url as string,
      headers: http.headers ?? EMPTY,
      query: http.query ?? EMPTY,
      ...optional('json', http.json),
      ...optional('body', http.body),
      expect_status: http.expect_status ?? ['2xx'],
      follow_redirects: http.follow_redirects ?? true,
    };
  }
  if (step.call !== undefined) return { kind: 'call', function: step.call.function as string, args: step.call.args ?? EMPTY };
  if (step.set !== undefined) return { kind: 'set', values: step.set };
  if (step.wait !== undefined) return { kind: 'wait', ...optional('for', step.wait.for), ...optional('until', step.wait.until) };
  const check = typeof step.check === 'object' ? step.check : { that: step.check as string | boolean };
  return { kind: 'check', that: bareExpression(check.that as string | boolean), ...optional('message', check.message) };
}

const ONE_ATTEMPT = retryPolicy({ max_attempts: 1 }, undefined);

/** Retry policy of a step; without any there is one attempt. */
function retryPolicy(own: AuthoredRetry | undefined, fallback: AuthoredRetry | undefined): RetryPolicy {
  if (own === undefined && fallback === undefined) return ONE_ATTEMPT;
  const retry = { ...fallback, ...own };
  return {
    backoff: retry.backoff ?? 'exponential',
    delay: parseDuration(retry.delay ?? '1s') as number,
    give_up_on: retry.give_up_on ?? [],
    jitter: retry.jitter ?? true,
    max_attempts: retry.max_attempts ?? 3,
    max_delay: parseDuration(retry.max_delay ?? '5m') as number,
    max_interruptions: retry.max_interruptions ?? 10,
    retry_on: retry.retry_on ?? ['transient', 'timeout'],
  };
}

// Flags that end a script at its first failure, for the shells that have them.
const SHELL_FLAGS: ReadonlyMap<string, string[]> = new Map([
  ...['bash', 'zsh', 'ksh'].map((name): [string, string[]] => [name, ['-euo', 'pipefail', '-c']]),
  ...['sh', 'dash', 'ash'].map((name): [string, string[]] => [name, ['-eu', '-c']]),
]);

function shellCommand(shell: string | string[]): string[] {
  if (Array.isArray(shell)) return shell;
  return [shell, ...(SHELL_FLAGS.get(basename(shell)) ?? ['-c'])];
}

const ms = (text: string | undefined) => (text === undefined ? undefined : parseDuration(text));

function optional<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  return (value === undefined ? {} : { [key]: value }) as { [key in K]?: V };
}

function nullPrototype<V>(): { [name: string]: V } {
  return Object.create(null) as { [name: string]: V };
}

function mapEntries<V, W>(map: { [name: string]: V }, change: (name: string, value: V) => W): { [name: string]: W } {
  const result = nullPrototype<W>();
  for (const [name, value] of Object.entries(map)) result[name] = change(name, value);
  return result;
}

/** Freezes a JSON value all through. Plans are at most 64 levels deep. */
export function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const key in value) {
      const member = value[key];
      if (typeof member === 'object') deepFreeze(member);
    }
  }
  return value;
}
