// Masks secrets before anything is written, on every sink: logs, events, errors, outputs, the store, the terminal.
//
// M1. Masking a stream gives the same bytes as masking its whole content at once, wherever the chunks are cut.
// M2. Every occurrence is covered, also overlapping ones; a run of covered bytes becomes one mark.
// M3. Bytes are held back only while they could be the beginning of a secret.
import { Buffer } from 'node:buffer';
import type { JsonValue } from '../core/json.js';
import { PatternScanner, type Range } from './pattern-scanner.js';
import { secretForms } from './secret-forms.js';

const MARK = Buffer.from('***');
// A number is only taken for a secret when it is the whole secret, and long enough not to be one by chance.
const SHORTEST_NUMBER = 4;

export interface MaskerStream {
  /** Takes the next bytes; returns those that are decided. */
  push(chunk: Buffer): Buffer;
  /** The bytes that were still held back. */
  end(): Buffer;
}

export interface Masker {
  /** The text with every secret in it replaced by `***`. */
  text(text: string): string;
  /** The same for every string and key of a value, and for numbers that spell a whole secret. */
  value(value: JsonValue): JsonValue;
  /** A masker of bytes that come in chunks; one per stream. */
  stream(): MaskerStream;
}

const PLAIN: Masker = {
  text: (text) => text,
  value: (value) => value,
  stream: () => ({ push: (chunk) => chunk, end: () => Buffer.alloc(0) }),
};

/**
 * A masker for some secrets: as they are, line by line, and as JSON, URI, shell and base64 spell them. Empty ones are
 * ignored. The patterns are built at the first use.
 */
export function createMasker(secrets: readonly string[]): Masker {
  const given = [...new Set(secrets.filter((secret) => secret !== ''))];
  if (given.length === 0) return PLAIN;
  const whole = new Set(given.map((secret) => secret.trim()).filter((secret) => secret.length >= SHORTEST_NUMBER));
  let built: PatternScanner | undefined;
  const scanner = () => (built ??= new PatternScanner(secretForms(given)));
  const text = (source: string) => maskText(scanner(), source);
  return {
    text,
    value: (value) => maskValue(value, text, (number) => whole.has(String(number))),
    stream: () => new ScanningStream(scanner()),
  };
}

function maskText(scanner: PatternScanner, source: string): string {
  const bytes = Buffer.from(source, 'utf8');
  const ranges: Range[] = [];
  scanner.scan(bytes, 0, 0, ranges);
  if (ranges.length === 0) return source;
  const parts: Buffer[] = [];
  let at = 0;
  for (const range of ranges) {
    parts.push(bytes.subarray(at, range.start), MARK);
    at = range.end;
  }
  parts.push(bytes.subarray(at));
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

class ScanningStream implements MaskerStream {
  readonly #scanner: PatternScanner;
  #state = 0;
  #held: Buffer = Buffer.alloc(0);
  /** Covered ranges of what is held. */
  #ranges: Range[] = [];
  /** True when the byte before what is held was covered, so its mark is written already. */
  #inRun = false;

  constructor(scanner: PatternScanner) {
    this.#scanner = scanner;
  }

  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#state = this.#scanner.scan(bytes, this.#held.length, this.#state, this.#ranges);
    return this.#emit(bytes, bytes.length - (this.#scanner.depth[this.#state] as number));
  }

  end(): Buffer {
    this.#state = 0;
    return this.#emit(this.#held, this.#held.length);
  }

  // Writes everything before `until`, keeps the rest.
  #emit(bytes: Buffer, until: number): Buffer {
    const parts: Buffer[] = [];
    const later: Range[] = [];
    let at = 0;
    for (const { start, end } of this.#ranges) {
      if (start >= until) {
        later.push({ start: start - until, end: end - until });
        continue;
      }
      if (start > at) parts.push(bytes.subarray(at, start));
      if (!(this.#inRun && start === 0)) parts.push(MARK);
      at = Math.min(end, until);
      if (end > until) later.push({ start: 0, end: end - until });
    }
    if (until > at) parts.push(bytes.subarray(at, until));
    if (until > 0) this.#inRun = at === until;
    this.#ranges = later;
    // A copy, so that a few held bytes do not keep a whole chunk alive.
    this.#held = until === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(until));
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  }
}
