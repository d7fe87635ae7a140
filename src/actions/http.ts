// `http`: one request. The status decides whether the step has done its work.
import { Buffer } from 'node:buffer';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { ActionError, type ErrorRecord } from '../core/error.js';
import { findNonJson, type JsonObject } from '../core/json.js';
import type { HttpAction } from '../plan/plan.js';
import { portFault } from '../core/http-address.js';
import { quote } from '../core/suggest.js';
import type { Masker } from '../process/masker.js';
import { OutputSink } from '../process/output-sink.js';
import { abortError } from './abort-error.js';
import type { Action, ActionOutcome, AttemptContext } from './action.js';
import { asActionError } from './as-action-error.js';
import { exchange, type HttpRequest, type HttpResponse } from './http-exchange.js';
import { isRedirect, MOST_REDIRECTS, redirected } from './http-redirect.js';
import { pickOutputs } from './outputs.js';
import { responseBody } from './http-body.js';
import { parseRetryAfter } from './retry-after.js';

// Statuses that may be another one when asked again.
const PASSING = new Set([408, 425, 429]);

/** The action for `http`. result = {status, headers, body}. */
export const httpAction: Action<HttpAction> = { kind: 'http', execute: send };

async function send(action: HttpAction, context: AttemptContext): Promise<ActionOutcome> {
  const { masker, step } = context;
  if (context.signal.aborted) throw abortError(context.signal);
  const sink = new OutputSink({ masker, log_path: context.log_path, empty_log: false, onLine: context.onLine });
  const log = sink.input('stdout');
  try {
    const first = requestOf(action, context);
    const { request, response } = await follow(action, first, context, (line) => log.push(Buffer.from(`${line}\n`)));
    if (!isExpected(response.status, action.expect_status)) throw statusError(action, request, response, context);
    const body = responseBody(response, masker);
    const result: JsonObject = { status: response.status, headers: response.headers, body };
    const found = findNonJson(body);
    if (found !== undefined) throw new ActionError({ class: 'permanent', code: 'not_json', message: `the response body cannot be kept: ${found.path} is ${found.found}` });
    const outputs = pickOutputs(body, { specs: step.outputs, masker }, 'the response body');
    log.end();
    return { kind: 'completed', output: { outputs, result }, log: sink.end().log };
  } catch (error) {
    log.end();
    throw new ActionError(asActionError(error, masker).record, { log: sink.end().log });
  } finally {
    sink.end();
  }
}

async function follow(
  action: HttpAction,
  first: HttpRequest,
  context: AttemptContext,
  note: (line: string) => void,
): Promise<{ request: HttpRequest; response: HttpResponse }> {
  let request = first;
  for (let redirects = 0; ; redirects += 1) {
    const response = await exchangeOrThrow(request, context);
    note(`${describe(request, context.masker)} -> ${response.status} ${response.statusText}, ${response.body.length} bytes`);
    if (!action.follow_redirects || isExpected(response.status, action.expect_status) || !isRedirect(response)) return { request, response };
    if (redirects === MOST_REDIRECTS) {
      throw new ActionError({ class: 'permanent', code: 'http_redirect', message: `${describe(first, context.masker)} was redirected more than ${MOST_REDIRECTS} times` });
    }
    try {
      request = redirected(request, response, context.masker);
    } catch (error) {
      const { record } = asActionError(error);
      throw new ActionError({ ...record, message: `${describe(request, context.masker)} answered ${response.status}: ${record.message}`, http_status: response.status });
    }
  }
}

async function exchangeOrThrow(request: HttpRequest, context: AttemptContext): Promise<HttpResponse> {
  try {
    return await exchange(request, context.signal);
  } catch (error) {
    if (context.signal.aborted) throw abortError(context.signal);
    if (error instanceof ActionError) throw new ActionError({ ...error.record, message: `${describe(request, context.masker)}: ${error.record.message}` });
    const { code, message } = error as NodeJS.ErrnoException;
    // A certificate that does not hold will not hold at the next try.
    const certificate = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/.test(code ?? '');
    throw new ActionError(
      { class: certificate ? 'permanent' : 'transient', code: 'http_connection', message: `${describe(request, context.masker)} got no whole response: ${message || code || 'the connection failed'}`, ...(code === undefined ? {} : { details: { cause: code } }) },
      { cause: error },
    );
  }
}

function requestOf(action: HttpAction, { resolve, masker }: AttemptContext): HttpRequest {
  const url = parseUrl(resolve.text(action.url, 'http.url'), masker);
  for (const [name, template] of Object.entries(action.query)) url.searchParams.append(name, resolve.text(template, `http.query.${name}`));
  const headers: { [name: string]: string } = {};
  for (const [name, template] of Object.entries(action.headers)) headers[name.toLowerCase()] = headerValue(name, resolve.text(template, `http.headers.${name}`));
  let body: Buffer | undefined;
  if (action.json !== undefined) {
    body = Buffer.from(JSON.stringify(resolve.value(action.json, 'http.json')));
    headers['content-type'] ??= 'application/json';
  } else if (action.body !== undefined) {
    body = Buffer.from(resolve.text(action.body, 'http.body'));
    headers['content-type'] ??= 'text/plain; charset=utf-8';
  }
  headers['accept'] ??= '*/*';
  headers['user-agent'] ??= 'planwright';
  return { method: action.method.toUpperCase(), url, headers, body };
}

function parseUrl(text: string, masker: Masker): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalid('http.url: expected an absolute address such as https://example.org/path, found one that cannot be read');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalid(`http.url: expected http or https, found ${quote(masker.part(text, 0, text.indexOf(':') + 1))}`);
  const port = portFault(url);
  if (port !== undefined) throw invalid(`http.url: ${port.message}`);
  return url;
}

function headerValue(name: string, value: string): string {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return value;
  } catch {
    throw invalid(`http.headers: ${quote(name)} or its value holds characters that a header cannot carry (line ends, control characters)`);
  }
}

function statusError(action: HttpAction, request: HttpRequest, response: HttpResponse, { masker, clock }: AttemptContext): ActionError {
  const { status } = response;
  const transient = PASSING.has(status) || status >= 500;
  const retryAfter = transient ? parseRetryAfter(String(response.headers['retry-after'] ?? ''), clock.now()) : undefined;
  const record: ErrorRecord = {
    class: transient ? 'transient' : 'permanent',
    code: 'http',
    message: `${describe(request, masker)} answered ${status} ${response.statusText}`.trimEnd() + `, expected ${action.expect_status.join(' or ')}`,
    http_status: status,
    ...(retryAfter === undefined ? {} : { retry_after_ms: retryAfter }),
    ...(response.body.length === 0 ? {} : { details: { body: beginning(response.body, masker) } }),
  };
  return new ActionError(record);
}

// A masker's stream holds back what may be the beginning of a secret, so the cut shows no half of one.
function beginning(body: Buffer, masker: Masker): string {
  const stream = masker.stream();
  const shown = stream.push(body.subarray(0, 4096));
  return Buffer.concat(body.length <= 4096 ? [shown, stream.end()] : [shown]).toString('utf8').slice(0, 1000);
}

function isExpected(status: number, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (/^\dxx$/i.test(pattern) ? pattern[0] === String(status)[0] : Number(pattern) === status));
}

// Without credentials and query, which may hold keys that nobody declared to be secret. Masked before it is cut: a secret
// may go on behind the question mark or the hash.
function describe({ method, url }: HttpRequest, masker: Masker): string {
  const shown = new URL(url);
  shown.username = shown.password = '';
  const { href, search, hash } = shown;
  return `${method} ${masker.part(href, 0, href.length - search.length - hash.length)}${search === '' ? '' : '?…'}`;
}

function invalid(message: string): ActionError {
  return new ActionError({ class: 'permanent', code: 'invalid_request', message });
}

