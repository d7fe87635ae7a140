// Declared outputs of a step: read from the file $PLAN_OUTPUT or from an object, checked against their types.
import { Buffer, isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { ActionError } from '../core/error.js';
import { findNonJson, type JsonObject, type JsonValue } from '../core/json.js';
import type { OutputSpec, ValueType } from '../plan/plan.js';
import { nearest, quote } from '../core/suggest.js';
import type { Masker } from '../process/masker.js';

export type OutputSpecs = { [name: string]: OutputSpec };
type Outputs = { [name: string]: JsonValue };

/** Bytes that $PLAN_OUTPUT, a captured stdout or a response body may have. */
export const VALUE_LIMIT = 16 * 1024 * 1024;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What reading outputs needs to know of the step. */
export interface OutputReading {
  specs: OutputSpecs;
  /** Masks what errors quote, before it is shortened: half a secret is none that a masker knows. */
  masker: Masker;
}

/**
 * Reads the file that a command wrote its outputs to: lines `name=value`, or JSON objects whose members are outputs.
 * A later value of a name replaces an earlier one. Throws ActionError (permanent): `output_invalid`,
 * `output_undeclared`, `output_type`, `output_missing`, `output_too_large`, `not_utf8`.
 */
export function readOutputFile(path: string, reading: OutputReading): Outputs {
  return parseOutputText(readWritten(path, '$PLAN_OUTPUT', 'the command must append to it, not replace it'), reading);
}

/** The same for the text of such a file. */
export function parseOutputText(text: string, reading: OutputReading): Outputs {
  const found = new OutputSet(reading);
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '' || line === '\r') continue;
    found.readLine(line, `line ${index + 1} of $PLAN_OUTPUT`);
  }
  return found.complete('wrote it to $PLAN_OUTPUT');
}

/**
 * Takes the declared outputs out of a result: its members of the same names. `source` names it in errors. Throws
 * ActionError (permanent): `output_type`, `output_missing`.
 */
export function pickOutputs(result: JsonValue, reading: OutputReading, source: string): Outputs {
  const names = Object.keys(reading.specs);
  if (names.length === 0) return {};
  const found = new OutputSet(reading);
  if (result === null || typeof result !== 'object' || Array.isArray(result)) {
    return found.complete(`can be taken from ${source}, which is ${typeOf(result)} and no object`);
  }
  for (const name of names) if (Object.hasOwn(result, name)) found.set(name, result[name] as JsonValue, source);
  return found.complete(`is a member of ${source}`);
}

class OutputSet {
  readonly #specs: OutputSpecs;
  readonly #masker: Masker;
  readonly #values = new Map<string, JsonValue>();

  constructor({ specs, masker }: OutputReading) {
    this.#specs = specs;
    this.#masker = masker;
  }

  readLine(line: string, where: string): void {
    if (line.startsWith('{')) {
      const members = parseJson(line);
      if (members === undefined) throw fault('output_invalid', `${where} begins with "{" but is no JSON object: ${this.#excerpt(line)}`);
      for (const [name, value] of Object.entries(members as JsonObject)) this.set(name, value, where);
      return;
    }
    const equals = line.indexOf('=');
    if (equals <= 0) throw fault('output_invalid', `${where}: expected name=value or a JSON object, found ${this.#excerpt(line)}`);
    const name = line.slice(0, equals);
    const text = line.slice(equals + 1);
    const { type } = this.#declared(name, where);
    const value = fromText(text, type);
    if (value === undefined) throw fault('output_type', `${where}: output "${name}" is declared ${type}, found ${this.#excerpt(text)}`);
    this.#values.set(name, value);
  }

  set(name: string, value: JsonValue, where: string): void {
    const spec = this.#declared(name, where);
    if (value === null && spec.optional) {
      this.#values.delete(name);
      return;
    }
    if (!isOfType(value, spec.type)) {
      throw fault('output_type', `${where}: output "${name}" is declared ${spec.type}, found ${typeOf(value)} ${this.#excerpt(JSON.stringify(value))}`);
    }
    this.#values.set(name, value);
  }

  /** All values; `how` says in the error what did not happen to a missing one. */
  complete(how: string): Outputs {
    const missing = Object.entries(this.#specs).filter(([name, spec]) => !spec.optional && !this.#values.has(name)).map(([name]) => `"${name}"`);
    if (missing.length === 0) return Object.fromEntries(this.#values);
    throw fault('output_missing', `the step ended without its declared output ${missing.join(', ')}: nothing ${how}; give it or declare it optional`);
  }

  #declared(name: string, where: string): OutputSpec {
    const spec = Object.hasOwn(this.#specs, name) ? this.#specs[name] : undefined;
    if (spec !== undefined) return spec;
    const near = nearest(name, Object.keys(this.#specs));
    const hint = near === undefined ? 'declare it under `outputs` of the step' : `did you mean "${near}"?`;
    throw fault('output_undeclared', `${where}: output ${this.#excerpt(name)} is not declared; ${hint}`);
  }

  #excerpt(text: string): string {
    return quote(this.#masker.text(text));
  }
}

// Text keeps every character; the other types are read strictly, but for blanks around them.
function fromText(text: string, type: ValueType): JsonValue | undefined {
  return type === 'string' ? text : parseTyped(text.trim(), type);
}

function parseTyped(text: string, type: ValueType): JsonValue | undefined {
  switch (type) {
    case 'integer':
      return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) + 0 : undefined;
    case 'number':
      return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    default: {
      const value = parseJson(text);
      return value !== undefined && isOfType(value, type) ? value : undefined;
    }
  }
}

function isOfType(value: JsonValue, type: ValueType): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value);
  return typeof value === type;
}

function typeOf(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

/** Parses JSON that a step gave; undefined when it is none, or nested too deep to be kept. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return findNonJson(value) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads a file that a process of a step was to write; '' when it is gone. `name` names it in errors, `how` says what to do.
 * Throws ActionError (permanent): `output_invalid`, `output_too_large`, `not_utf8`.
 */
export function readWritten(path: string, name: string, how: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return ''; // removed: nothing was given
    throw fault('output_invalid', `${name} cannot be read (${code ?? 'unknown'}); ${how}`);
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw fault('output_invalid', `${name} is no regular file any more; ${how}`);
    if (found.size > VALUE_LIMIT) throw tooLarge(name, found.size);
    const bytes = readFileSync(file);
    if (!isUtf8(bytes)) throw fault('not_utf8', `${name} holds bytes that are not UTF-8; encode binary data, for example with base64`);
    return Buffer.from(bytes).toString('utf8');
  } finally {
    closeSync(file);
  }
}

/** The error for a value over the limit. */
export function tooLarge(what: string, bytes: number): ActionError {
  return fault('output_too_large', `${what} has ${bytes} bytes, at most ${VALUE_LIMIT} can be kept; write large data to a file and give its path`, { bytes });
}

function fault(code: string, message: string, details?: JsonObject): ActionError {
  return new ActionError({ class: 'permanent', code, message, ...(details === undefined ? {} : { details }) });
}

/** Outputs with their values masked; the names are the plan's own, and later steps find the values by them. */
export function maskOutputs(outputs: Outputs, masker: Masker): JsonObject {
  return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, masker.value(value)]));
}
