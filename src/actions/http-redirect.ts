// Where a redirect leads, and what may go there. To another origin goes nothing of the step: no headers, no body, no
// credentials; and what once left the origin stays without them, even if it is sent back.
import { ActionError } from '../core/error.js';
import type { Masker } from '../process/masker.js';
import type { HttpRequest, HttpResponse } from './http-exchange.js';

export const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
// Headers that describe a body.
const BODY_HEADERS = /^content-/i;

/** Whether a response sends the client elsewhere. */
export function isRedirect(response: HttpResponse): boolean {
  return REDIRECTS.has(response.status) && typeof response.headers['location'] === 'string';
}

/** The request that answers a redirect. Throws ActionError `http_redirect` (permanent) when it must not be followed. */
export function redirected(request: HttpRequest, response: HttpResponse, masker: Masker): HttpRequest {
  const location = String(response.headers['location']);
  const url = parse(location, request.url);
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw refuse(`it redirects to ${JSON.stringify(masker.text(location))}, which is no http or https address`);
  }
  const toGet = response.status === 303 ? request.method !== 'HEAD' : response.status <= 302 && request.method === 'POST';
  const method = toGet ? 'GET' : request.method;
  const body = toGet ? undefined : request.body;
  if (url.origin === request.url.origin) {
    // The credentials of the first address hold for its origin.
    if (url.username === '' && url.password === '') [url.username, url.password] = [request.url.username, request.url.password];
    return { method, url, body, headers: toGet ? withoutBodyHeaders(request.headers) : request.headers };
  }
  if (body !== undefined) throw refuse(`it redirects to another origin, ${url.origin}, where the body of the step is not sent; give that address as \`url\` if you trust it`);
  if (masker.text(url.href) !== url.href) throw refuse(`it redirects to another origin, ${url.origin}, with a secret in the address`);
  return { method, url, body: undefined, headers: {} };
}

function withoutBodyHeaders(headers: HttpRequest['headers']): HttpRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !BODY_HEADERS.test(name)));
}

function parse(location: string, base: URL): URL | undefined {
  try {
    return new URL(location, base);
  } catch {
    return undefined;
  }
}

function refuse(why: string): ActionError {
  return new ActionError({ class: 'permanent', code: 'http_redirect', message: why });
}
