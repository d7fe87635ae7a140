// What a session is made of is stored as it is: its plan, params, variables of the host, names and paths. None of it may
// hold a secret, and to mask it would change what runs; so it is refused before anything is stored.
import { UsageError } from '../core/error.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import { listOf } from '../core/suggest.js';
import type { LoadedPlan } from '../plan/load.js';
import { planJson } from '../plan/plan-json.js';
import type { Plan } from '../plan/plan.js';
import { canBeTold, createMasker, type Masker, type Secret } from '../process/masker.js';

type SecretSource = (name: string) => string | undefined;

/** The secrets that a plan lists, as far as they are set. */
export function secretsOf(plan: Pick<Plan, 'secrets'>, secret: SecretSource): Secret[] {
  return plan.secrets.flatMap((name) => {
    const value = secret(name);
    return value === undefined || value === '' ? [] : [{ name, value }];
  });
}

/** A masker of all secrets that a plan lists. */
export function maskerOf(plan: Pick<Plan, 'secrets'>, secret: SecretSource): Masker {
  return createMasker(secretsOf(plan, secret));
}

export interface SecretFault {
  code: 'secret_in_param' | 'secret_in_session';
  message: string;
  hint: string;
}

/** Params whose value holds a secret. Asked before anything else looks at the values: errors quote them. */
export function secretsInParams(secrets: readonly Secret[], given: { readonly [name: string]: JsonValue }): SecretFault[] {
  const find = finderOf(secrets);
  return Object.entries(given).flatMap(([name, value]) => {
    const inName = find.within(name);
    if (inName.length > 0) return [{ code: 'secret_in_param' as const, message: `the name of a param holds the value of ${named(inName)}, and params are stored`, hint: hintFor(inName) }];
    const names = find.in(value);
    return names.length === 0 ? [] : [{ code: 'secret_in_param' as const, message: `the param ${name} holds the value of ${named(names)}, and params are stored`, hint: hintFor(names) }];
  });
}

/** What else of a new session holds a secret. Throws UsageError `secret_in_session`. */
export function refuseSecretsAtStart(secrets: readonly Secret[], loaded: LoadedPlan, sessionId: string, hostEnv: JsonObject): void {
  if (secrets.length === 0) return;
  const find = finderOf(secrets);
  const refuse = (names: string[], what: string, todo = hintFor(names)) => {
    if (names.length > 0) throw new UsageError('secret_in_session', `${what} holds the value of ${named(names)}, and is stored with the session; ${todo}. Nothing was started`);
  };
  refuse(find.within(sessionId), 'the session id', 'choose another');
  refuse(find.within([loaded.file, loaded.base_dir]), 'the path of the plan file', 'move the file');
  refuse(find.within(loaded.source), `the plan file${placeOf(find, loaded)}`);
  refuse(find.within(planJson(loaded.plan)), 'the plan');
  for (const [name, value] of Object.entries(hostEnv)) {
    const names = find.in(value);
    refuse(names, `the variable ${name} of the host`, `list ${name} under "secrets" too and read it as secrets.${name}, or take ${listOf(names)} off that list if the value is no secret`);
  }
}

interface Finder {
  /** Names of secrets that stand somewhere in the value, of those that do not look like an ordinary word. */
  within(value: JsonValue): string[];
  /** These, and those that are one of its texts as a whole. */
  in(value: JsonValue): string[];
}

function finderOf(secrets: readonly Secret[]): Finder {
  const told = secrets.filter(({ value }) => canBeTold(value));
  const masker = createMasker(told.filter(({ value }) => isNoWord(value)));
  const within = (value: JsonValue) => masker.namesIn(value);
  return { within, in: (value) => [...new Set([...within(value), ...told.filter((secret) => isLeaf(secret.value.trim(), value)).map(({ name }) => name)])] };
}

// "postgres" is a password here and there, and an ordinary word in every plan: as a part of a longer text it says nothing.
function isNoWord(value: string): boolean {
  const text = value.trim();
  return text.length >= 16 || (text.length >= 6 && /\d/.test(text));
}

function isLeaf(secret: string, value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return String(value).trim() === secret;
  return (Array.isArray(value) ? value : Object.values(value)).some((member) => isLeaf(secret, member));
}

function placeOf(find: Finder, { file, source }: LoadedPlan): string {
  const line = source.split('\n').findIndex((text) => find.within(text).length > 0);
  return line === -1 ? '' : ` (${file}:${line + 1})`;
}

function named(names: readonly string[]): string {
  return `the ${names.length === 1 ? 'secret' : 'secrets'} ${listOf(names, 'and')}`;
}

function hintFor(names: readonly string[]): string {
  return `read it as ${listOf(names.map((name) => `secrets.${name}`))} where it is needed, or take ${listOf(names, 'and')} off the list "secrets" if the value is no secret`;
}
