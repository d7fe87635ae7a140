// Masks secrets before anything is written, on every sink: logs, events, errors, the store, the terminal.
//
// M1. Masking a stream gives the same bytes as masking its whole content at once, wherever the chunks are cut; but at
//     its end the beginning of a secret counts as one, since its writer may have been ended in the middle.
// M2. Every occurrence is covered, also overlapping ones; a run of covered bytes becomes one mark.
// M3. Bytes are held back only while they could be the beginning of a secret.
// M4. Data that goes on to other steps is never changed: `namesIn` says what it holds, and it is refused.
import { Buffer } from 'node:buffer';
import type { JsonValue } from '../core/json.js';
import { MaskingStream, MARK } from './masking-stream.js';
import { PatternScanner, type Range } from './pattern-scanner.js';
import { secretForms } from './secret-forms.js';
import { SharedPieces } from './shared-pieces.js';

// A number is only taken for a secret when it is the whole secret, and long enough not to be one by chance.
const SHORTEST_NUMBER = 4;
// A shorter value, and these words, stand in data by chance.
const SHORTEST_IN_DATA = 4;
const PLAIN_WORDS = new Set(['true', 'false', 'null']);

export interface Secret {
  name: string;
  value: string;
}

export interface MaskerStream {
  /** Takes the next bytes; returns those that are decided. */
  push(chunk: Buffer): Buffer;
  /** The bytes that were still held back. */
  end(): Buffer;
}

export interface Masker {
  /** The text with every secret in it replaced by `***`. */
  text(text: string): string;
  /** The characters from `start` to `end` of a text, masked as they are in the whole of it. */
  part(text: string, start: number, end: number): string;
  /** The same for every string and key of a value, and for numbers that spell a whole secret. For people to read. */
  value(value: JsonValue): JsonValue;
  /** Names of the secrets that some data holds. A secret that is too short to be told from other data is none of them. */
  namesIn(value: JsonValue): string[];
  /** Whether a text holds a piece of a secret that is long enough to be one: for texts that somebody else cut. */
  hasPiece(text: string): boolean;
  /** A masker of bytes that come in chunks; one per stream. */
  stream(): MaskerStream;
}

const PLAIN: Masker = {
  text: (text) => text,
  part: (text, start, end) => text.slice(start, end),
  value: (value) => value,
  namesIn: () => [],
  hasPiece: () => false,
  stream: () => ({ push: (chunk) => chunk, end: () => Buffer.alloc(0) }),
};

/** Whether a secret can be told from other data that is like it by chance. */
export function canBeTold(secret: string): boolean {
  const text = secret.trim();
  return text.length >= SHORTEST_IN_DATA && !PLAIN_WORDS.has(text.toLowerCase());
}

/**
 * A masker for some secrets: as they are, part by part, and as JSON, addresses, shells and base64 spell them. Empty ones
 * are ignored; a text is a secret without a name. The patterns are built at the first use.
 */
export function createMasker(secrets: ReadonlyArray<Secret | string>): Masker {
  const given = secrets.map((secret) => (typeof secret === 'string' ? { name: '', value: secret } : secret)).filter(({ value }) => value !== '');
  if (given.length === 0) return PLAIN;
  const whole = new Set(given.map(({ value }) => value.trim()).filter((value) => value.length >= SHORTEST_NUMBER));
  const isSecret = (number: number) => whole.has(String(number));
  const scanner = once(() => scannerOf(given));
  const told = given.filter(({ value }) => canBeTold(value));
  const dataScanner = told.length === given.length ? scanner : once(() => scannerOf(told));
  const pieces = once(() => new SharedPieces(given.map(({ value }) => value)));
  const text = (source: string) => maskPart(scanner(), source, 0, source.length);
  return {
    text,
    part: (source, start, end) => maskPart(scanner(), source, start, end),
    value: (value) => maskValue(value, text, isSecret),
    namesIn: (value) => {
      if (told.length === 0 || !holdsAny(dataScanner(), value, isSecret)) return [];
      const names = told.filter((secret) => holdsAny(scannerOf([secret]), value, (number) => String(number) === secret.value.trim())).map(({ name }) => name);
      return [...new Set(names)];
    },
    hasPiece: (source) => pieces().standIn(source),
    stream: () => new MaskingStream(scanner()),
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function scannerOf(secrets: readonly Secret[]): PatternScanner {
  return new PatternScanner(secretForms([...new Set(secrets.map(({ value }) => value))]));
}

function rangesIn(scanner: PatternScanner, bytes: Buffer): Range[] {
  const ranges: Range[] = [];
  scanner.scan(bytes, 0, 0, ranges);
  return ranges;
}

function maskPart(scanner: PatternScanner, source: string, start: number, end: number): string {
  const bytes = Buffer.from(source, 'utf8');
  const ranges = rangesIn(scanner, bytes);
  if (ranges.length === 0) return source.slice(start, end);
  const from = Buffer.byteLength(source.slice(0, start));
  const until = Buffer.byteLength(source.slice(0, end));
  const parts: Buffer[] = [];
  let at = from;
  for (const range of ranges) {
    if (range.end <= from) continue;
    if (range.start >= until) break;
    parts.push(bytes.subarray(at, Math.max(at, range.start)), MARK);
    at = range.end;
  }
  if (at < until) parts.push(bytes.subarray(at, until));
  return Buffer.concat(parts).toString('utf8');
}

function maskValue(value: JsonValue, text: (source: string) => string, isSecret: (number: number) => boolean): JsonValue {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number') return isSecret(value) ? '***' : value;
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item) => maskValue(item, text, isSecret));
  const members = new Map<string, JsonValue>();
  for (const [key, member] of Object.entries(value)) {
    const masked = text(key);
    let name = masked;
    for (let n = 2; members.has(name); n += 1) name = `${masked}${n}`;
    members.set(name, maskValue(member, text, isSecret));
  }
  return Object.fromEntries(members);
}

function holdsAny(scanner: PatternScanner, value: JsonValue, isSecret: (number: number) => boolean): boolean {
  if (typeof value === 'string') return rangesIn(scanner, Buffer.from(value, 'utf8')).length > 0;
  if (typeof value === 'number') return isSecret(value);
  if (value === null || typeof value === 'boolean') return false;
  if (Array.isArray(value)) return value.some((item) => holdsAny(scanner, item, isSecret));
  return Object.entries(value).some(([key, member]) => holdsAny(scanner, key, isSecret) || holdsAny(scanner, member, isSecret));
}
