// What a step's templates may read when its attempt begins: params, env, secrets, and the outputs of the steps that
// it refers to. Only those are looked up, so a session of 50,000 steps costs no more than one of five.
import { ActionError, StoreError } from '../core/error.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import type { SessionStart } from '../core/session-state.js';
import type { StepOutput, StepState, StoredValue } from '../core/step-state.js';
import { evaluateCondition } from '../expression/evaluate.js';
import { referencesOf, referencesOfTemplate, referencesOfValue, type Reference } from '../expression/references.js';
import type { EvaluationScope } from '../expression/scope.js';
import { evaluateText, evaluateValue } from '../expression/template.js';
import type { InputResolver } from '../actions/action.js';
import type { EnvMap, Plan, StepSpec } from '../plan/plan.js';

export interface StepReading {
  status: string;
  outputs?: JsonObject;
  result?: JsonValue;
}

/** Where the values of a session come from. */
export interface InputSource {
  plan: Plan;
  start: SessionStart;
  stateOf(id: string): StepState;
  getBlob(digest: string): Promise<string | undefined>;
  secret(name: string): string | undefined;
  /** How the steps ended, in the `finally` phase. */
  ending(): string | undefined;
}

/** Step ids that a step's own fields refer to, its `if` included. */
export function stepsReferredTo(spec: StepSpec): string[] {
  const references: Reference[] = [
    ...(spec.if === undefined ? [] : referencesOf(spec.if)),
    ...referencesOfValue(spec.env as JsonValue),
    ...(spec.cwd === undefined ? [] : referencesOfTemplate(spec.cwd)),
    ...(spec.stdin === undefined ? [] : referencesOfTemplate(spec.stdin)),
    ...actionReferences(spec),
  ];
  return stepNames(references);
}

function stepNames(references: readonly Reference[]): string[] {
  return [...new Set(references.flatMap((r) => (r.root === 'steps' && r.name !== undefined ? [r.name] : [])))];
}

function actionReferences(spec: StepSpec): Reference[] {
  const { action } = spec;
  switch (action.kind) {
    case 'run':
      return referencesOfValue(action.argv ?? []);
    case 'check':
      return [...referencesOf(action.that), ...(action.message === undefined ? [] : referencesOfTemplate(action.message))];
    default:
      return referencesOfValue(action as unknown as JsonValue);
  }
}

/** Reads a stored value, from its row or its blob. */
export async function readStored(stored: StoredValue, getBlob: InputSource['getBlob']): Promise<JsonValue> {
  if (stored.in === 'row') return stored.value;
  const content = await getBlob(stored.digest);
  if (content === undefined) throw new StoreError('corrupt', `the store lost the blob ${stored.digest} (${stored.bytes} bytes), a value of this session; restore a backup (plan audit names what it belongs to)`);
  return JSON.parse(content) as JsonValue;
}

/** The status and values of some steps, as expressions see them. */
export async function readSteps(source: InputSource, ids: readonly string[]): Promise<Map<string, StepReading>> {
  const readings = new Map<string, StepReading>();
  for (const id of ids) {
    const state = source.stateOf(id);
    const reading: StepReading = { status: state.status };
    if (state.status === 'completed') {
      const output = (await readStored(state.output, source.getBlob)) as unknown as StepOutput;
      reading.outputs = output.outputs;
      reading.result = output.result;
    }
    readings.set(id, reading);
  }
  return readings;
}

/** The scope of one evaluation; `secretNames` are those that the evaluated fields use, looked up now and kept nowhere. */
function scopeOf(
  source: InputSource,
  readings: ReadonlyMap<string, StepReading>,
  env: { [name: string]: string },
  secretNames: readonly string[],
): EvaluationScope {
  const ending = source.ending();
  const secrets: { [name: string]: string } = Object.create(null) as { [name: string]: string };
  for (const name of secretNames) secrets[name] = secretOrThrow(source, name);
  return {
    params: source.start.params,
    env,
    secrets,
    session: { id: source.start.session_id, ...(ending === undefined ? {} : { status: ending }) },
    plan: { name: source.plan.name },
    step: (id) => readings.get(id),
  };
}

function secretOrThrow(source: InputSource, name: string): string {
  const value = source.secret(name);
  if (value !== undefined && value !== '') return value;
  throw new ActionError({ class: 'permanent', code: 'secret_missing', message: `the secret ${name} is not set; set the environment variable ${name}` });
}

/** Names of the secrets that the environment of the whole plan uses. */
export function planEnvSecrets(plan: Plan): string[] {
  return [...new Set(referencesOfValue(plan.env as JsonValue).flatMap((r) => (r.root === 'secrets' && r.name !== undefined ? [r.name] : [])))];
}

interface PlanEnv {
  /** What the plan's `env` gives to every step. */
  plan: { [name: string]: string };
  /** What `env.X` reads: the plan's, else the host's as taken at the start of the session. */
  visible: { [name: string]: string };
}

// The plan's environment refers to no step, so it is resolved once a drive.
const planEnvs = new WeakMap<InputSource, PlanEnv>();

function planEnvOf(source: InputSource): PlanEnv {
  let found = planEnvs.get(source);
  if (found === undefined) {
    const host: { [name: string]: string } = Object.create(null) as { [name: string]: string };
    for (const [name, value] of Object.entries(source.start.host_env)) if (value !== null) host[name] = value;
    const plan = resolveEnv(source.plan.env, source.start, scopeOf(source, new Map(), host, planEnvSecrets(source.plan)));
    planEnvs.set(source, (found = { plan, visible: { ...host, ...plan } }));
  }
  return found;
}

/** The scope of a step's own fields (of the plan's outputs without `spec`), and the environment that the plan gives it. */
export function stepScope(
  source: InputSource,
  readings: ReadonlyMap<string, StepReading>,
  spec?: StepSpec,
): { scope: EvaluationScope; planEnv: { [name: string]: string } } {
  const { plan, visible } = planEnvOf(source);
  return { scope: scopeOf(source, readings, visible, spec?.secrets ?? []), planEnv: plan };
}

/** Resolves an `env` map; a null value passes the host's variable through, and is left out when that is not set. */
export function resolveEnv(map: EnvMap, start: SessionStart, scope: EvaluationScope): { [name: string]: string } {
  const env: { [name: string]: string } = Object.create(null) as { [name: string]: string };
  for (const [name, template] of Object.entries(map)) {
    const value = template === null ? start.host_env[name] : evaluateText(template, scope);
    if (value !== undefined && value !== null) env[name] = value;
  }
  return env;
}

/** The resolver that actions use; errors say which field of the step. */
export function resolverOf(stepId: string, scope: EvaluationScope): InputResolver {
  const at = <T>(path: string, read: () => T): T => {
    try {
      return read();
    } catch (error) {
      throw error instanceof ActionError ? error : expressionFailure(`steps.${stepId}.${path}`, error);
    }
  };
  return {
    text: (template, path) => at(path, () => evaluateText(template, scope)),
    value: (template, path) => at(path, () => evaluateValue(template, scope)),
    condition: (expression, path) => at(path, () => evaluateCondition(expression, scope)),
  };
}

/** An expression that failed when it was evaluated: permanent, since the same inputs give the same failure. */
export function expressionFailure(where: string, error: unknown): ActionError {
  const message = error instanceof Error ? error.message : String(error);
  return new ActionError({ class: 'permanent', code: 'expression', message: `${where}: ${message}` }, { cause: error });
}

