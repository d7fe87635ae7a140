// Whatever an action throws becomes an ActionError: its class decides what happens next.
import { ActionError, ERROR_CLASSES, UsageError, type ErrorClass, type ErrorRecord } from '../core/error.js';
import { findNonJson, type JsonObject, type JsonValue } from '../core/json.js';
import { createMasker, type Masker } from '../process/masker.js';

// A mistake in the code of a function: the same call gives the same error.
const MISTAKES = new Set(['TypeError', 'ReferenceError', 'SyntaxError', 'RangeError', 'EvalError', 'AssertionError']);

/** Codes of a connection that failed and may work later. */
export const CONNECTION_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME',
  'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'EADDRNOTAVAIL', 'HPE_INVALID_EOF_STATE',
  'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT',
]);
// A chain of causes may be a ring.
const LONGEST_CHAIN = 10;
const LONGEST_MESSAGE = 4000;

// Members of `details` that this package writes: their names, and those that hold no text of others, are never masked.
const OWN_FACTS = new Set(['limit', 'limit_ms', 'bytes', 'processes_left']);
const OWN_TEXTS = new Set(['tail', 'body', 'path', 'found', 'cause']);

/**
 * Makes an ActionError of anything thrown. PermanentError, TransientError and ActionError count wherever they stand in
 * the chain of causes, also when they come from another copy of this module. A connection failure is transient, a
 * mistake of the code (TypeError, …) permanent, everything else transient. Text that came from outside is masked; the
 * class, the codes and the names of members that are this package's own words are not.
 */
export function asActionError(error: unknown, masker: Masker = createMasker([])): ActionError {
  const record = recordOf(error, masker);
  const log = error instanceof ActionError ? error.log : undefined;
  if (error instanceof ActionError && JSON.stringify(record) === JSON.stringify(error.record)) return error;
  return new ActionError(record, log === undefined ? {} : { log });
}

/** The same for what code of others threw: nothing in it is a word of this package's, whatever it claims to be. */
export function foreignError(error: unknown, masker: Masker): ActionError {
  return new ActionError(recordOf(error, masker, true), { cause: error });
}

function recordOf(error: unknown, masker: Masker, foreign = false): ErrorRecord {
  const chain = causesOf(error);
  const message = messageOf(error, masker);
  for (const link of chain) {
    const record = classed(link, masker, foreign);
    // What wraps a classed error says more about where; the class and the code come from within.
    if (record !== undefined) return link === chain[0] ? record : { ...record, message: shortened(`${message}: ${record.message}`) };
  }
  return unclassed(error, chain, message, masker);
}

function unclassed(error: unknown, chain: object[], message: string, masker: Masker): ErrorRecord {
  const code = chain.map((link) => (link as { code?: unknown }).code).find((c) => typeof c === 'string' && CONNECTION_CODES.has(c));
  if (code !== undefined) return { class: 'transient', code: 'connection', message: shortened(`${message} (${String(code)})`) };
  const name = nameOf(error);
  if (MISTAKES.has(name)) return { class: 'permanent', code: 'function_fault', message: shortened(`${name}: ${message}`) };
  if (name === 'UsageError' || name === 'ExpressionError') return { class: 'permanent', code: codeOf(error, masker) ?? 'expression', message: withoutPiece(message, masker) };
  return { class: 'transient', code: codeOf(error, masker) ?? 'function_failed', message };
}

function causesOf(error: unknown): object[] {
  const chain: object[] = [];
  for (let link = error; typeof link === 'object' && link !== null && chain.length < LONGEST_CHAIN; ) {
    chain.push(link);
    link = (link as { cause?: unknown }).cause;
  }
  return chain;
}

// By name, not by class: a plan's module may have loaded its own copy of this package.
function classed(error: object, masker: Masker, foreign: boolean): ErrorRecord | undefined {
  const { record } = error as { record?: Partial<ErrorRecord> };
  if (typeof record === 'object' && record !== null && typeof record.code === 'string' && typeof record.message === 'string') {
    if (ERROR_CLASSES.includes(record.class as ErrorClass)) {
      return foreign || !(error instanceof ActionError) ? takenOver(record as ErrorRecord, masker) : masked(record as ErrorRecord, masker);
    }
  }
  const name = nameOf(error);
  if (name === 'PermanentError') return { class: 'permanent', code: 'permanent', message: messageOf(error, masker) };
  if (name === 'TransientError') return { class: 'transient', code: 'transient', message: messageOf(error, masker) };
  return undefined;
}

function masked(record: ErrorRecord, masker: Masker): ErrorRecord {
  const message = shortened(masker.text(record.message));
  const result = { ...record, message: record.code === 'expression' ? withoutPiece(message, masker) : message };
  if (record.details !== undefined) result.details = Object.fromEntries(Object.entries(record.details).flatMap(([key, member]) => maskedMember(key, member, masker)));
  return result;
}

function maskedMember(key: string, member: JsonValue, masker: Masker): Array<[string, JsonValue]> {
  if (OWN_FACTS.has(key)) return [[key, member]];
  if (OWN_TEXTS.has(key)) return [[key, masker.value(member)]];
  return Object.entries(masker.value({ [key]: member }) as JsonObject);
}

// Only the members that a record has, each of its type.
function takenOver(record: ErrorRecord, masker: Masker): ErrorRecord {
  const number = (key: 'exit_code' | 'http_status' | 'retry_after_ms') => (typeof record[key] === 'number' ? { [key]: record[key] } : {});
  const { details, signal } = record;
  return {
    class: record.class,
    code: ownCodeOr(record.code, masker) ?? record.class,
    message: messageOf(record, masker),
    ...number('exit_code'),
    ...(typeof signal === 'string' ? { signal: masker.text(signal) } : {}),
    ...number('http_status'),
    ...number('retry_after_ms'),
    ...(typeof details === 'object' && details !== null && findNonJson(details) === undefined ? { details: masker.value(details) as JsonObject } : {}),
  };
}

// `permanent` and `transient` are this package's; any other code is the word of whoever threw it.
function ownCodeOr(code: string, masker: Masker): string | undefined {
  return code === 'permanent' || code === 'transient' || masker.text(code) === code ? code : undefined;
}

function nameOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { name } = error as { name?: unknown };
  return typeof name === 'string' ? name : '';
}

function codeOf(error: unknown, masker: Masker): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string' || code === '') return undefined;
  // A code is a word for programs: one that holds a secret is none.
  return error instanceof UsageError || masker.text(code) === code ? code.toLowerCase() : undefined;
}

// Masked before it is made one line and cut: half a secret is none that a masker knows.
function messageOf(error: unknown, masker: Masker): string {
  if (typeof error === 'object' && error !== null && typeof (error as { message?: unknown }).message === 'string') {
    return shortened(oneLine(masker.text(withoutExcerpt((error as { message: string }).message, masker)))) || masker.text(nameOf(error)) || 'it failed without a message';
  }
  const text = typeof error === 'object' && error !== null ? '' : String(error);
  return shortened(oneLine(masker.text(text))) || 'it failed without a message';
}

// `JSON.parse` quotes some characters of the text around the fault.
function withoutExcerpt(message: string, masker: Masker): string {
  const excerpt = /(?:, )?(?:\.\.\.)?"[^]*"(?:\.\.\.)?(?= is not valid JSON$)/.exec(message)?.[0];
  return excerpt !== undefined && masker.hasPiece(excerpt) ? message.replace(excerpt, () => ': the text') : message;
}

// What an expression tells of a value may be a part of it only.
function withoutPiece(message: string, masker: Masker): string {
  return masker.hasPiece(message) ? 'an expression of the step failed on a value that holds a secret, and why would show a part of it; look at those that read secrets' : message;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*[\r\n]+\s*/g, ' | ');
}

function shortened(text: string): string {
  return text.slice(0, LONGEST_MESSAGE);
}
