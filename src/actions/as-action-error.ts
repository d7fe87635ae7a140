// Whatever an action throws becomes an ActionError: its class decides what happens next.
import { ActionError, ERROR_CLASSES, type ErrorClass, type ErrorRecord } from '../core/error.js';
import type { JsonObject } from '../core/json.js';
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

/**
 * Makes an ActionError of anything thrown. PermanentError, TransientError and ActionError count wherever they stand in
 * the chain of causes, also when they come from another copy of this module. A connection failure is transient, a
 * mistake of the code (TypeError, …) permanent, everything else transient. All text is masked.
 */
export function asActionError(error: unknown, masker: Masker = createMasker([])): ActionError {
  const record = maskRecord(recordOf(error), masker);
  const log = error instanceof ActionError ? error.log : undefined;
  if (error instanceof ActionError && JSON.stringify(record) === JSON.stringify(error.record)) return error;
  return new ActionError(record, log === undefined ? {} : { log });
}

function maskRecord(record: ErrorRecord, masker: Masker): ErrorRecord {
  // Masked before it is cut: half a secret is none that a masker knows.
  const masked = { ...record, message: masker.text(record.message).slice(0, LONGEST_MESSAGE) };
  if (record.details !== undefined) masked.details = masker.value(record.details) as JsonObject;
  return masked;
}

function recordOf(error: unknown): ErrorRecord {
  const message = messageOf(error);
  const chain = causesOf(error);
  for (const link of chain) {
    const record = classed(link);
    // What wraps a classed error says more about where; the class and the code come from within.
    if (record !== undefined) return link === chain[0] ? record : { ...record, message: `${message}: ${record.message}` };
  }
  const code = chain.map((link) => (link as { code?: unknown }).code).find((c) => typeof c === 'string' && CONNECTION_CODES.has(c));
  if (code !== undefined) return { class: 'transient', code: 'connection', message: `${message} (${String(code)})` };
  const name = nameOf(error);
  if (MISTAKES.has(name)) return { class: 'permanent', code: 'function_fault', message: `${name}: ${message}` };
  if (name === 'UsageError' || name === 'ExpressionError') return { class: 'permanent', code: codeOf(error) ?? 'expression', message };
  return { class: 'transient', code: codeOf(error) ?? 'function_failed', message };
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
function classed(error: object): ErrorRecord | undefined {
  const { record } = error as { record?: Partial<ErrorRecord> };
  if (typeof record === 'object' && record !== null && typeof record.code === 'string' && typeof record.message === 'string') {
    if (ERROR_CLASSES.includes(record.class as ErrorClass)) return record as ErrorRecord;
  }
  const name = nameOf(error);
  if (name === 'PermanentError') return { class: 'permanent', code: 'permanent', message: messageOf(error) };
  if (name === 'TransientError') return { class: 'transient', code: 'transient', message: messageOf(error) };
  return undefined;
}

function nameOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { name } = error as { name?: unknown };
  return typeof name === 'string' ? name : '';
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && code !== '' ? code.toLowerCase() : undefined;
}

function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && typeof (error as { message?: unknown }).message === 'string') {
    return oneLine((error as { message: string }).message) || nameOf(error) || 'it failed without a message';
  }
  const text = typeof error === 'object' && error !== null ? '' : String(error);
  return oneLine(text) || 'it failed without a message';
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*[\r\n]+\s*/g, ' | ');
}
