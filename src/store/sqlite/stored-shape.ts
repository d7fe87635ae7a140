// What stored JSON must look like to be what this program wrote: the members that code relies on, not every member.
import { EVENT_TYPES } from '../../core/event.js';
import { SESSION_STATUSES, TERMINAL_SESSION_STATUSES } from '../../core/session-state.js';
import { STEP_STATUSES } from '../../core/step-state.js';

/** Says what is wrong with a value, or nothing: `status: expected a status of a step, found "x"`. */
export type Shape = (value: unknown, path: string) => string | undefined;

// The last moment that a Date can hold.
const LAST_TIME = 8.64e15;

const is = (what: string, holds: (value: unknown) => boolean): Shape => (value, path) =>
  holds(value) ? undefined : `${path === '' ? '' : `${path}: `}expected ${what}, found ${found(value)}`;
const text = is('text', (value) => typeof value === 'string');
const truth = is('true or false', (value) => typeof value === 'boolean');
const count = is('a whole number from 0', (value) => Number.isSafeInteger(value) && (value as number) >= 0);
const time = is('a time in milliseconds', (value) => typeof value === 'number' && Math.abs(value) <= LAST_TIME);
const object = is('an object', isObject);
const list = is('a list', Array.isArray);
const anything = is('a value', (value) => value !== undefined);
const oneOf = (what: string, words: readonly string[]) => is(what, (value) => typeof value === 'string' && words.includes(value));
const optional = (shape: Shape): Shape => (value, path) => (value === undefined ? undefined : shape(value, path));
const orNull = (shape: Shape): Shape => (value, path) => (value === null ? undefined : shape(value, path));

function members(shapes: { readonly [name: string]: Shape }): Shape {
  const entries = Object.entries(shapes);
  return (value, path) => {
    if (!isObject(value)) return object(value, path);
    for (const [name, shape] of entries) {
      const wrong = shape((value as { [name: string]: unknown })[name], path === '' ? name : `${path}.${name}`);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  };
}

const errorShape = members({ class: text, code: text, message: text });
const inRow = members({ value: anything });
const inBlob = members({ digest: text, bytes: count });
const outputInRow = members({ value: members({ outputs: object, result: anything }) });
const storedValue: Shape = (value, path) => {
  const place = isObject(value) ? value['in'] : undefined;
  if (place === 'row') return inRow(value, path);
  return place === 'blob' ? inBlob(value, path) : is('a stored value', () => false)(value, path);
};

const stepOutput: Shape = (value, path) => storedValue(value, path) ?? ((value as { in: string }).in === 'row' ? outputInRow(value, path) : undefined);

const SESSION_MEMBERS = {
  status: oneOf('a status of a session', SESSION_STATUSES),
  ending: optional(oneOf('how a session ends', TERMINAL_SESSION_STATUSES)),
  generation: count,
  attempts_used: count,
  attempts_limit: optional(count),
  deadline_at: optional(time),
  ended_at: optional(time),
  outputs: optional(storedValue),
  error: optional(errorShape),
};
export const sessionState = members(SESSION_MEMBERS);
/** Members that changed; null removes one. */
export const sessionPatch = members(Object.fromEntries(Object.entries(SESSION_MEMBERS).map(([name, shape]) => [name, optional(orNull(shape))])));

export const sessionStart = members({
  session_id: text, plan_hash: text, plan_name: text, created_at: time, params: object, host_env: object, base_dir: text, plan_file: text,
});

const request = { requested_at: time, actor: text, reason: text };
export const cancelRequest = members({ ...request, ends_finally: optional(members(request)) });

export const leaseHolder = members({ token: text, host: text, boot_id: text, pid_namespace: text, pid: count, process_start: text });

const counted = members({
  status: oneOf('a status of a step', STEP_STATUSES),
  generation: count, attempt: count, failures: count, interruptions: count,
  verdict: optional(truth), started_at: optional(time), deadline_at: optional(time), last_error: optional(errorShape),
});
const byStatus: { readonly [status: string]: Shape } = {
  running: members({ attempt_started_at: time }),
  retry_wait: members({ next_retry_at: time, last_error: errorShape }),
  waiting_timer: members({ wake_at: time }),
  completed: members({ ended_at: time, output: stepOutput }),
  failed: members({ ended_at: time, error: errorShape, tolerated: truth }),
  skipped: members({ ended_at: time, reason: members({ kind: text }) }),
  cancelled: members({ ended_at: time, reason: text }),
};
export const stepState: Shape = (value, path) => counted(value, path) ?? byStatus[(value as { status: string }).status]?.(value, path);

const checkpointStep = members({ step_id: text, seq: count, epoch: count, state: orNull(stepState) });
export const checkpointSteps: Shape = (value, path) => {
  if (!Array.isArray(value)) return list(value, path);
  for (const [index, step] of value.entries()) {
    const wrong = checkpointStep(step, `[${index}]`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
};

export const eventData = object;
export const eventType = oneOf('a type of event', EVENT_TYPES);
export { count, time };

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function found(value: unknown): string {
  const json = JSON.stringify(value) ?? 'nothing';
  return json.length > 60 ? `${json.slice(0, 60)}…` : json;
}
