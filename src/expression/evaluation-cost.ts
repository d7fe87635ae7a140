// What one evaluation may cost. An expression is short, but loops and replacements multiply: without a bound a line of text
// takes hours, or more memory than there is, and with it every session of the process.
//
// B1. Loops together take at most MOST_TURNS turns (counted when a loop begins: exists() and all() go on after an error in
//     a turn, so an error there does not end them).
// B2. Inside loops, what is compared, joined, searched or converted is paid for by its size (`_paid`, written by
//     print.ts); outside of them an expression touches each value as often as it is long, which is little.
// B3. Functions that can make more than they take check the size of what they would make before they make it.
import type { JsonValue } from '../core/json.js';

const MOST_TURNS = 1_000_000;
const MOST_WORK = 300_000_000;
const LONGEST_TEXT = 16 * 1024 * 1024;
const LONGEST_LIST = 1_000_000;
const MOST_VALUES = 2_000_000;

let turns = 0;
let work = 0;

/** Begins an evaluation. Evaluations do not nest: they are synchronous, and functions of the host are no part of them. */
export function resetCost(): void {
  turns = 0;
  work = 0;
}

/** A reason to end the evaluation, or undefined. `range`: what a loop goes over. */
export function countTurns(range: unknown): string | undefined {
  if (Array.isArray(range)) turns += range.length;
  else if (typeof range === 'object' && range !== null) turns += range instanceof Map ? range.size : Object.keys(range).length;
  return turns > MOST_TURNS ? `the loops of one expression may take ${MOST_TURNS} turns together` : undefined;
}

/** Pays for work on so many characters. A reason to end the evaluation, or undefined. */
export function spend(units: number): string | undefined {
  work += units;
  return work > MOST_WORK ? 'the expression works on too much data: its loops go over large values again and again' : undefined;
}

/** Pays for work on a value. A reason to end the evaluation, or undefined. */
export function spendOn(value: unknown): string | undefined {
  if (typeof value === 'string') return tooLong(value.length) ?? spend(1 + value.length);
  if (typeof value !== 'object' || value === null) return spend(1);
  return (Array.isArray(value) ? tooMany(value.length) : undefined) ?? spend(sizeOf(value));
}

export function tooLong(characters: number): string | undefined {
  return characters > LONGEST_TEXT ? `a text in an expression may have at most ${LONGEST_TEXT} characters` : undefined;
}

export function tooMany(items: number): string | undefined {
  return items > LONGEST_LIST ? `a list in an expression may have at most ${LONGEST_LIST} items` : undefined;
}

/** Throws Error when a result is larger than anything that could be kept. One value may be in it many times. */
export function checkResultSize(value: unknown): void {
  if (typeof value === 'string' && value.length > LONGEST_TEXT) throw new Error(tooLong(value.length));
  if (typeof value === 'object' && value !== null && sizeOf(value) > MOST_VALUES * 16) throw new Error(`the result is too large: it may hold ${MOST_VALUES} values, or ${MOST_VALUES * 16} characters of text`);
}

const sizes = new WeakMap<object, number>();

// 16 for each value, 1 for each character; of what stands at several places, at each. Values do not change.
function sizeOf(value: object): number {
  const known = sizes.get(value);
  if (known !== undefined) return known;
  let size = 16;
  const add = (member: unknown) => {
    size += typeof member === 'object' && member !== null ? sizeOf(member) : typeof member === 'string' ? 16 + member.length : 16;
  };
  if (Array.isArray(value)) for (const item of value as JsonValue[]) add(item);
  else if (value instanceof Map) for (const [key, member] of value) [key, member].forEach(add);
  else if (isPlain(value)) for (const key in value) [key, (value as { [name: string]: unknown })[key]].forEach(add);
  sizes.set(value, size);
  return size;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
