// Every place of a plan where an expression may stand, with the rules of that place.
import type { JsonValue } from '../core/json.js';
import type { AuthoredPlan } from './authored.js';
import type { EnvMap } from './plan.js';
import type { PlanPath } from './problem-list.js';
import type { StepDraft } from './step-draft.js';

/** What a place needs: true or false, text (also of a number), or any JSON. */
export type Wanted = 'condition' | 'text' | 'value';

export interface Site {
  path: PlanPath;
  text: string;
  /** `expression`: all of the text is one, with or without `${{ }}`. `template`: text with `${{ }}` parts. */
  form: 'expression' | 'template';
  wants: Wanted;
  /** Why a secret must not stand here; undefined where it may. */
  noSecrets?: string;
  /** Who reads it: a step, or the plan before any step runs, or the plan when it completed. */
  reader: StepDraft | 'start' | 'end';
  /** Whether this is an `env` value, where a name of the same map means the host's. */
  inEnv?: EnvMap;
  /** The output of a `set` step that this place makes. */
  sets?: string;
}

const STORED = 'it would be stored';
const VISIBLE = 'the command line of a process can be read by other users; pass it by env or stdin';

/** Sites of a plan outside its steps. */
export function* planSites(plan: AuthoredPlan): Generator<Site> {
  yield* envSites(['env'], plan.env, 'start');
  if (plan.defaults?.cwd !== undefined) {
    yield { path: ['defaults', 'cwd'], text: plan.defaults.cwd, form: 'template', wants: 'text', reader: 'start', noSecrets: VISIBLE };
  }
  for (const [name, value] of Object.entries(plan.outputs ?? {})) {
    yield* valueSites(['outputs', name], value, { reader: 'end', noSecrets: STORED });
  }
}

/** Sites of one step, in the order in which its needs are inferred from them. */
export function* stepSites(draft: StepDraft): Generator<Site> {
  const { authored, path } = draft;
  const text = (key: string, value: string | undefined, noSecrets?: string): Site[] =>
    value === undefined ? [] : [{ path: [...path, key], text: value, form: 'template', wants: 'text', reader: draft, ...(noSecrets === undefined ? {} : { noSecrets }) }];
  if (authored.if !== undefined) yield { path: [...path, 'if'], text: String(authored.if), form: 'expression', wants: 'condition', reader: draft, noSecrets: 'what `if` decided is stored' };
  yield* envSites([...path, 'env'], authored.env, draft);
  yield* text('cwd', authored.cwd, VISIBLE);
  yield* text('stdin', authored.stdin);
  yield* kindSites(draft);
}

function* kindSites(draft: StepDraft): Generator<Site> {
  const { authored, path } = draft;
  if (Array.isArray(authored.run)) yield* valueSites([...path, 'run'], authored.run, { reader: draft, noSecrets: VISIBLE, wants: 'text' });
  if (authored.http !== undefined) yield* httpSites(draft, authored.http);
  if (authored.call?.args !== undefined) yield* valueSites([...path, 'call', 'args'], authored.call.args, { reader: draft });
  if (authored.check !== undefined) yield* checkSites(draft, authored.check);
  for (const [name, value] of Object.entries(authored.set ?? {})) {
    yield* valueSites([...path, 'set', name], value, { reader: draft, noSecrets: STORED, sets: name });
  }
  for (const key of ['for', 'until'] as const) {
    const value = authored.wait?.[key];
    if (value !== undefined) yield { path: [...path, 'wait', key], text: value, form: 'template', wants: 'text', reader: draft, noSecrets: STORED };
  }
}

function* httpSites(draft: StepDraft, http: NonNullable<StepDraft['authored']['http']>): Generator<Site> {
  const path = [...draft.path, 'http'];
  const reader = draft;
  if (http.url !== undefined) yield* valueSites([...path, 'url'], http.url, { reader, wants: 'text' });
  for (const key of ['headers', 'query'] as const) yield* valueSites([...path, key], http[key] ?? {}, { reader, wants: 'text' });
  if (http.json !== undefined) yield* valueSites([...path, 'json'], http.json, { reader });
  if (http.body !== undefined) yield* valueSites([...path, 'body'], http.body, { reader, wants: 'text' });
}

function* checkSites(draft: StepDraft, check: NonNullable<StepDraft['authored']['check']>): Generator<Site> {
  const path = [...draft.path, 'check'];
  const noSecrets = STORED;
  if (typeof check !== 'object') {
    yield { path, text: String(check), form: 'expression', wants: 'condition', reader: draft, noSecrets };
    return;
  }
  if (check.that !== undefined) yield { path: [...path, 'that'], text: String(check.that), form: 'expression', wants: 'condition', reader: draft, noSecrets };
  if (check.message !== undefined) yield { path: [...path, 'message'], text: check.message, form: 'template', wants: 'text', reader: draft, noSecrets };
}

function* envSites(path: PlanPath, env: EnvMap | undefined, reader: Site['reader']): Generator<Site> {
  for (const [name, value] of Object.entries(env ?? {})) {
    if (value !== null) yield { path: [...path, name], text: value, form: 'template', wants: 'text', reader, inEnv: env as EnvMap };
  }
}

// All texts in a JSON value. Values are at most 64 levels deep.
function* valueSites(path: PlanPath, value: JsonValue, rest: Pick<Site, 'reader' | 'noSecrets' | 'sets'> & { wants?: Wanted }): Generator<Site> {
  if (typeof value === 'string') yield { form: 'template', wants: 'value', ...rest, path, text: value };
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* valueSites([...path, index], item, rest);
  else if (value !== null && typeof value === 'object') for (const [key, member] of Object.entries(value)) yield* valueSites([...path, key], member, rest);
}
