// What is checked of each step alone: its id, keys that do not go with its kind, scripts, time limits.
import { parseDuration, formatDuration } from '../core/duration.js';
import type { AuthoredLimits } from './authored.js';
import { checkHttp } from './check-http.js';
import type { PlanPath } from './problem-list.js';
import type { PlanContext } from './plan-context.js';
import { durationHint } from './duration-hint.js';
import { bracesHint, forgottenBraces } from './forgotten-braces.js';
import type { StepDraft } from './step-draft.js';
import { listOf, quote } from '../core/suggest.js';

const RESERVED_ID = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
const OWN_ENV = new Set(['PLAN_SESSION_ID', 'PLAN_STEP_ID', 'PLAN_ATTEMPT', 'PLAN_ATTEMPT_ID', 'PLAN_OUTPUT']);
const KEYS_OF_KINDS: ReadonlyArray<[keyof StepDraft['authored'], readonly string[]]> = [
  ['cwd', ['run']],
  ['shell', ['run']],
  ['stdin', ['run']],
  ['stdout', ['run']],
  ['outputs', ['run', 'call', 'http']],
];

/** Checks ids over the whole plan, and each step for itself. */
export function checkSteps(context: PlanContext): void {
  checkIds(context);
  for (const draft of context.drafts.values()) {
    checkKindKeys(context, draft);
    checkScript(context, draft);
    checkForgotten(context, draft);
    checkOutputs(context, draft);
    checkCommand(context, draft);
    checkWait(context, draft);
    checkHttp(context, draft);
    checkLimits(context, draft.path, draft.authored, context.plan.defaults ?? {});
    checkEnvNames(context, [...draft.path, 'env'], draft.authored.env);
  }
  checkEnvNames(context, ['env'], context.plan.env);
  checkLimits(context, ['defaults'], context.plan.defaults ?? {}, {});
  checkDuration(context, ['timeout'], context.plan.timeout, true);
}

// Ids name log files: two that differ only by case would share one on some disks.
function checkIds(context: PlanContext): void {
  const seen = new Map<string, { id: string; path: PlanPath }>();
  for (const section of ['steps', 'finally'] as const) {
    for (const id of Object.keys(context.plan[section] ?? {})) {
      const path = [section, id];
      if (RESERVED_ID.test(id)) context.fault(path, 'key', 'bad_id', `expected another step id, found ${quote(id)}, a device name on Windows`, `call it ${id}_step`);
      const folded = id.normalize('NFC').toLowerCase();
      const first = seen.get(folded);
      if (first === undefined) seen.set(folded, { id, path });
      else {
        const line = context.lineOf(first.path);
        const message = first.id === id ? `the step id ${quote(id)} is used twice; first in line ${line}` : `the step id ${quote(id)} is the same as ${quote(first.id)} in line ${line}, but for case or spelling`;
        context.fault(path, 'key', 'duplicate_id', message, 'give one of the steps another id');
      }
    }
  }
}

function checkKindKeys(context: PlanContext, draft: StepDraft): void {
  if (draft.kind === undefined) return;
  for (const [key, kinds] of KEYS_OF_KINDS) {
    if (draft.authored[key] !== undefined && !kinds.includes(draft.kind)) {
      context.fault([...draft.path, key], 'key', 'key_not_for_kind', `"${key}" means nothing on a step of kind ${draft.kind}`, `"${key}" goes with ${listOf(kinds)}`);
    }
  }
  if (Array.isArray(draft.authored.run) && draft.authored.shell !== undefined) {
    context.fault([...draft.path, 'shell'], 'key', 'key_not_for_kind', 'no shell sees a command that is a list', 'write "run" as a text, or remove "shell"');
  }
}

// Data in a script would be code: a value may hold quotes, `$(…)` or newlines.
function checkScript(context: PlanContext, draft: StepDraft): void {
  const script = draft.authored.run;
  if (typeof script !== 'string') return;
  const path = [...draft.path, 'run'];
  for (const found of script.matchAll(/\$\{\{(?:[^}]|\}(?!\}))*(?:\}\})?/g)) {
    context.faultIn({ path, text: script }, found.index, found[0].length, 'interpolation_in_script', 'a script cannot hold ${{ }}: its value would run as code', `give it by env: \`env: { VALUE: "${found[0].trim()}" }\`, and use "$VALUE" in the script`);
  }
}

const FOREIGN_OUTPUT = /\$\{?(?:GITHUB_(?:OUTPUT|ENV|STATE)|CI_OUTPUT|DAGU_OUTPUT\w*)\b\}?|::set-(?:output|env) name=|##vso\[task\.setvariable/;
const HEREDOC_OUTPUT = /\becho\s+(["']?)\w+<<-?\w+\1\s*(?:>>|\n)/;

// Outputs written as other tools want them would be lost.
function checkOutputs(context: PlanContext, draft: StepDraft): void {
  const script = draft.authored.run;
  if (typeof script !== 'string') return;
  const found = FOREIGN_OUTPUT.exec(script) ?? (script.includes('PLAN_OUTPUT') ? HEREDOC_OUTPUT.exec(script) : null);
  if (found === null) return;
  const heredoc = found[0].includes('<<');
  const hint = heredoc ? 'a value of several lines is written as a line of JSON: {"name": "line 1\\nline 2"}' : 'declare "outputs" and write them to the file $PLAN_OUTPUT: echo "name=value" >> "$PLAN_OUTPUT"';
  context.faultIn({ path: [...draft.path, 'run'], text: script }, found.index, found[0].trim().length, 'foreign_output', heredoc ? 'outputs have no form name<<END' : `this is how another tool takes outputs: ${quote(found[0])}`, hint, 'warning');
}

// `run: [echo hi]`
function checkCommand(context: PlanContext, draft: StepDraft): void {
  const { run } = draft.authored;
  if (!Array.isArray(run) || run.length !== 1 || !/^[\w./-]+\s+\S/.test(run[0] as string) || /^\.{0,2}\/.*\s.*\//.test(run[0] as string)) return;
  context.warn([...draft.path, 'run', 0], 'value', 'one_argument', `a program of the name ${quote(run[0] as string)} is looked for, spaces included`, `write each argument as an item: [${(run[0] as string).split(/\s+/).slice(0, 4).join(', ')}], or a script as text`);
}

// What the shell would take apart, or print as it is.
function checkForgotten(context: PlanContext, draft: StepDraft): void {
  const script = draft.authored.run;
  if (typeof script !== 'string' || script.includes('${{')) return;
  const found = forgottenBraces(context, script, true);
  if (found === undefined) return;
  context.faultIn({ path: [...draft.path, 'run'], text: script }, found.offset, found.length, 'forgotten_braces', 'a script cannot read values of the plan: this stays as it is written', `give it by env: \`env: { VALUE: "${bracesHint(context, found).replace('write ', '')}" }\`, and use "$VALUE" in the script`, 'warning');
}

function checkWait(context: PlanContext, draft: StepDraft): void {
  const wait = draft.authored.wait;
  if (wait?.for !== undefined && !wait.for.includes('${{')) checkDuration(context, [...draft.path, 'wait', 'for'], wait.for, false);
  if (wait?.until !== undefined && !wait.until.includes('${{') && !isTime(wait.until)) {
    const path = [...draft.path, 'wait', 'until'];
    const forgotten = forgottenBraces(context, wait.until);
    context.fault(path, 'value', 'bad_time', `expected an ISO 8601 time with offset, such as 2026-12-01T09:00:00Z, found ${quote(wait.until)}`, forgotten && bracesHint(context, forgotten));
    context.problems.damage(path);
  }
}

function isTime(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text));
}

function checkDuration(context: PlanContext, path: PlanPath, text: string | undefined, positive: boolean): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === undefined) {
    const forgotten = path.at(-1) === 'for' ? forgottenBraces(context, text) : undefined;
    const hint = forgotten !== undefined ? bracesHint(context, forgotten) : durationHint(text);
    context.fault(path, 'value', 'bad_duration', `expected a duration with a unit, such as 500ms, 30s, 5m, 1h30m or 2d, found ${quote(text)}`, hint);
    context.problems.damage(path);
  } else if (positive && ms === 0) context.fault(path, 'value', 'bad_duration', `expected a duration longer than zero, found ${quote(text)}`);
  return ms;
}

// Limits that cannot fit are told where the later of the two was written.
function checkLimits(context: PlanContext, path: PlanPath, own: AuthoredLimits, defaults: AuthoredLimits): void {
  if (own.timeout === undefined && own.attempt_timeout === undefined && own.retry === undefined && own.kill_grace === undefined) return;
  const timeout = checkDuration(context, [...path, 'timeout'], own.timeout, true) ?? fallback(defaults.timeout);
  const attempt = checkDuration(context, [...path, 'attempt_timeout'], own.attempt_timeout, true) ?? fallback(defaults.attempt_timeout);
  checkDuration(context, [...path, 'kill_grace'], own.kill_grace, false);
  const whole = fallback(context.plan.timeout);
  if (attempt !== undefined && timeout !== undefined && attempt > timeout && (own.timeout ?? own.attempt_timeout) !== undefined) {
    context.warn([...path, own.attempt_timeout === undefined ? 'timeout' : 'attempt_timeout'], 'value', 'limit_never_reached', `attempt_timeout (${formatDuration(attempt)}) is longer than the timeout of the step (${formatDuration(timeout)})`, 'make attempt_timeout the shorter one');
  } else if (own.timeout !== undefined && timeout !== undefined && whole !== undefined && timeout > whole) {
    context.warn([...path, 'timeout'], 'value', 'limit_never_reached', `the timeout (${formatDuration(timeout)}) is longer than that of the plan (${formatDuration(whole)})`, 'make it shorter, or remove it');
  }
  if (own.retry !== undefined) checkRetry(context, [...path, 'retry'], own, defaults, timeout);
}

function checkRetry(context: PlanContext, path: PlanPath, own: AuthoredLimits, defaults: AuthoredLimits, timeout: number | undefined): void {
  const retry = own.retry ?? {};
  const delay = checkDuration(context, [...path, 'delay'], retry.delay, false);
  const longest = checkDuration(context, [...path, 'max_delay'], retry.max_delay, false) ?? fallback(defaults.retry?.max_delay) ?? 300_000;
  if (delay !== undefined && delay > longest) {
    context.warn([...path, 'delay'], 'value', 'limit_never_reached', `delay (${formatDuration(delay)}) is longer than max_delay (${formatDuration(longest)})`, 'raise max_delay');
  } else if (delay !== undefined && timeout !== undefined && delay >= timeout) {
    context.warn([...path, 'delay'], 'value', 'limit_never_reached', `no second attempt fits: delay (${formatDuration(delay)}) is not shorter than the timeout of the step (${formatDuration(timeout)})`, 'raise the timeout');
  }
}

const fallback = (text: string | undefined) => (text === undefined ? undefined : parseDuration(text));

function checkEnvNames(context: PlanContext, path: PlanPath, env: object | undefined): void {
  for (const name of Object.keys(env ?? {})) {
    if (OWN_ENV.has(name)) context.fault([...path, name], 'key', 'reserved_env', `${name} is set by the program itself`, 'choose another name');
  }
}
