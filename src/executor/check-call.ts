// What callers without types get wrong, told before anything is stored.
import { UsageError } from '../core/error.js';
import type { LoadedPlan } from '../plan/load.js';

/** UsageError `bad_call` unless this is what `loadPlan` gives for a plan without problems. */
export function checkLoaded(loaded: LoadedPlan): void {
  const given = loaded as unknown;
  if (!isObject(given)) throw badCall('run', `the result of loadPlan, found ${nameOf(given)}`);
  if (given['ok'] === false) {
    const [first] = Array.isArray(given['problems']) ? (given['problems'] as Array<{ message?: unknown }>) : [];
    throw badCall('run', `a plan without problems, found one whose \`ok\` is false${first === undefined ? '' : ` (${String(first.message)})`}; look at its \`problems\` first`);
  }
  if (!isObject(given['plan']) || !Array.isArray(given['plan']['steps']) || typeof given['source'] !== 'string' || typeof given['base_dir'] !== 'string' || typeof given['file'] !== 'string') {
    throw badCall('run', `the result of loadPlan ({ ok: true, plan, source, file, base_dir }), found an object with ${Object.keys(given).slice(0, 10).join(', ') || 'no members'}`);
  }
}

export function checkSessionArgument(method: 'resume' | 'retry' | 'cancel', sessionId: string): void {
  if (typeof (sessionId as unknown) !== 'string') throw badCall(method, `the id of a session, a text, found ${nameOf(sessionId)}`);
}

export function checkOptions(method: string, options: unknown): void {
  if (!isObject(options)) throw badCall(method, `options as an object, found ${nameOf(options)}`);
  const { signal, params } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw badCall(method, `options.signal as an AbortSignal, found ${nameOf(signal)}`);
  if (params !== undefined && !isObject(params)) throw badCall(method, `options.params as an object, found ${nameOf(params)}`);
}

export function checkCancelOptions(options: unknown): void {
  if (isObject(options) && typeof options['actor'] === 'string' && typeof options['reason'] === 'string') return checkOptions('cancel', options);
  throw badCall('cancel', `{ actor, reason } as the second argument, both texts (who asks, and why: they are stored), found ${nameOf(options)}`);
}

/** What the checks throw. */
export function faultOfCall(check: () => void): UsageError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}

function badCall(method: string, expected: string): UsageError {
  return new UsageError('bad_call', `executor.${method} expects ${expected}. Nothing was started`);
}

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return isObject(value) ? `an object with ${Object.keys(value).slice(0, 10).join(', ') || 'no members'}` : `${typeof value} ${JSON.stringify(value)?.slice(0, 40) ?? ''}`.trimEnd();
}
