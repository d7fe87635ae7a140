// One HTTP request and its whole response, over node's own client: it has no hidden time limit, so `attempt_timeout`
// alone decides how long a slow server is waited for.
import { Buffer } from 'node:buffer';
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ActionError } from '../core/error.js';
import { VALUE_LIMIT, tooLarge } from './outputs.js';

export interface HttpRequest {
  method: string;
  url: URL;
  headers: { [name: string]: string };
  body: Buffer | undefined;
}

export interface HttpResponse {
  status: number;
  statusText: string;
  /** Lower-case names; repeated headers joined by a comma, `set-cookie` as a list. */
  headers: { [name: string]: string | string[] };
  body: Buffer;
}

/**
 * Sends a request and reads the response, at most 16 MiB of it. Rejects with ActionError `output_too_large`, with the
 * connection's error, or with an AbortError. Never follows a redirect, never uses a proxy; one connection a request.
 */
export function exchange(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const client = open(request, signal);
    client.once('error', reject);
    // Node hands the connection over in these two cases, and nothing else of it would ever be heard.
    const handedOver = (response: IncomingMessage, socket: Duplex) => {
      socket.destroy();
      reject(new ActionError({ class: 'permanent', code: 'http', http_status: response.statusCode ?? 0, message: `the server answered ${response.statusCode ?? 0} and changed to another protocol, which a step cannot speak` }));
    };
    client.once('upgrade', handedOver);
    client.once('connect', handedOver);
    client.once('response', (response) => {
      readBody(response).then((body) => resolve(toResponse(response, body)), (error: unknown) => {
        client.destroy();
        reject(error);
      });
    });
    client.end(request.body);
  });
}

function open({ method, url, headers, body }: HttpRequest, signal: AbortSignal): ClientRequest {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const length = body === undefined ? (['POST', 'PUT', 'PATCH'].includes(method) ? { 'content-length': '0' } : {}) : { 'content-length': String(body.length) };
  // No shared agent: a connection that was kept open may be closed by the server just when it is used again.
  return send(url, { method, headers: { ...length, ...headers }, agent: false, signal });
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of decoded(response) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > VALUE_LIMIT) throw tooLarge('the response body', Math.max(size, Number(response.headers['content-length'] ?? 0)));
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

// Nothing asks for compression, but some servers compress without being asked.
function decoded(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip' ? createGunzip() : encoding === 'deflate' ? createInflate() : encoding === 'br' ? createBrotliDecompress() : undefined;
  if (decoder === undefined) return response;
  response.once('error', (error) => decoder.destroy(error));
  return response.pipe(decoder);
}

function toResponse(response: IncomingMessage, body: Buffer): HttpResponse {
  const headers: { [name: string]: string | string[] } = {};
  for (const [name, value] of Object.entries(response.headers)) if (value !== undefined) headers[name] = value;
  return { status: response.statusCode ?? 0, statusText: response.statusMessage ?? '', headers, body };
}
