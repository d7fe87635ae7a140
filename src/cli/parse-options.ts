// Values of command line options. What cannot be read is a UsageError that names the option.
import { parseDuration } from '../core/duration.js';
import { UsageError } from '../core/error.js';

/** Collects an option that may be given several times. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** `k=v` texts to a map; the value may be empty and may hold `=`. A name given twice is an error. */
export function parseAssignments(option: string, texts: readonly string[]): { [name: string]: string } {
  const values = Object.create(null) as { [name: string]: string };
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError('bad_option', `${option} expects NAME=VALUE, found "${text}"`);
    const name = text.slice(0, at);
    if (Object.hasOwn(values, name)) throw new UsageError('bad_option', `${option} gives "${name}" twice: give it once`);
    values[name] = text.slice(at + 1);
  }
  return values;
}

/** Milliseconds of `--max-wait`; `0` needs no unit. */
export function parseWait(option: string, text: string): number {
  const ms = text === '0' ? 0 : parseDuration(text);
  if (ms === undefined) throw new UsageError('bad_option', `${option} expects a duration such as 30s, 5m or 1h30m, found "${text}"`);
  return ms;
}

/** A whole number of at least `least`. */
export function parseCount(option: string, text: string, least: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value) || value < least) throw new UsageError('bad_option', `${option} expects a whole number from ${least}, found "${text}"`);
  return value;
}

/** `attempts=N` of `--add-budget`. */
export function parseBudget(texts: readonly string[]): { attempts?: number } {
  const given = parseAssignments('--add-budget', texts);
  const budget: { attempts?: number } = {};
  for (const [name, value] of Object.entries(given)) {
    if (name !== 'attempts') throw new UsageError('bad_option', `--add-budget knows attempts=N, found "${name}"`);
    budget.attempts = parseCount('--add-budget attempts', value, 1);
  }
  return budget;
}
