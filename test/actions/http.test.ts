import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { LONGEST_RETRY_AFTER_MS, parseRetryAfter } from '../../src/actions/retry-after.js';
import type { HttpAction } from '../../src/plan/plan.js';
import { contextOf, execute, failureOf, outputOf } from './support.js';

interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

// A server that keeps what it was asked.
async function serve(answer: (request: Seen, index: number, ...rest: Parameters<RequestListener>) => void): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (chunk: Buffer) => parts.push(chunk));
    request.on('end', () => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString() };
      seen.push(one);
      answer(one, seen.length, request, response);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const http = (url: string, rest: Partial<HttpAction> = {}): HttpAction => ({ kind: 'http', method: 'GET', url, headers: {}, query: {}, expect_status: ['2xx'], follow_redirects: true, ...rest });

describe('http', () => {
  test('sends method, query, headers and JSON once, and gives status, headers and parsed body', async () => {
    const { url, seen } = await serve((_, __, ___, response) => response.writeHead(201, { 'content-type': 'application/json; charset=utf-8', 'x-a': '1' }).end('{"id": 7, "name": "é"}'));
    const action = http(`${url}/items?a=1`, { method: 'post', query: { q: 'x y&z' }, headers: { 'X-Key': 'k' }, json: { n: [1, null] } });
    const output = await outputOf(action, { step: { outputs: { id: { type: 'integer', optional: false }, no: { type: 'string', optional: true } } } });
    expect(output).toMatchObject({ outputs: { id: 7 }, result: { status: 201, headers: { 'x-a': '1' }, body: { id: 7, name: 'é' } } });
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/items?a=1&q=x+y%26z', body: '{"n":[1,null]}', headers: { 'x-key': 'k', 'content-type': 'application/json' } });
  });

  test('a text body stays text, an empty one is null, a compressed one is unpacked', async () => {
    const { url } = await serve((request, _, __, response) => {
      if (request.url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' }).end(gzipSync('packed'));
      else if (request.url === '/empty') response.writeHead(204).end();
      else response.writeHead(200, { 'content-type': 'text/plain; charset=latin1' }).end(Buffer.from([0xe9]));
    });
    const body = async (path: string) => ((await outputOf(http(url + path))).result as { body: unknown }).body;
    expect(await body('/gzip')).toBe('packed');
    expect(await body('/empty')).toBe(null);
    expect(await body('/')).toBe('é');
  });

  test.each([
    [500, 'transient'],
    [503, 'transient'],
    [429, 'transient'],
    [408, 'transient'],
    [425, 'transient'],
    [400, 'permanent'],
    [404, 'permanent'],
    [304, 'permanent'],
  ])('status %i is a %s error, sent once', async (status, errorClass) => {
    const { url, seen } = await serve((_, __, ___, response) => response.writeHead(status).end(status === 304 ? undefined : 'why it failed'));
    const { record } = await failureOf(http(url));
    expect(record).toMatchObject({ class: errorClass, code: 'http', http_status: status });
    expect(record.message).toContain(`answered ${status}`);
    if (status !== 304) expect(record.details).toEqual({ body: 'why it failed' });
    expect(seen).toHaveLength(1);
  });

  test('expected statuses may be single ones and classes', async () => {
    const { url } = await serve((_, __, ___, response) => response.writeHead(404).end('none'));
    expect((await outputOf(http(url, { expect_status: ['2xx', '404'] }))).result).toMatchObject({ status: 404, body: 'none' });
    expect((await outputOf(http(url, { expect_status: ['4XX'] }))).result).toMatchObject({ status: 404 });
  });

  test('refused and broken connections and unknown hosts are transient and name the address without credentials', async () => {
    const tcp = createTcpServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as AddressInfo;
    const broken = await failureOf(http(`http://user:pass-w0rd@127.0.0.1:${port}/p?key=abc`));
    expect(broken.record).toMatchObject({ class: 'transient', code: 'http_connection', message: expect.stringContaining(`GET http://127.0.0.1:${port}/p?…`) as string });
    expect(JSON.stringify(broken.record)).not.toMatch(/pass-w0rd|abc/);
    await new Promise((resolve) => tcp.close(resolve));
    expect((await failureOf(http(`http://127.0.0.1:${port}/`))).record).toMatchObject({ class: 'transient', code: 'http_connection', details: { cause: 'ECONNREFUSED' } });
    expect((await failureOf(http('http://no-such-host.invalid/'))).record).toMatchObject({ class: 'transient', code: 'http_connection' });
  });

  test('a response that is cut off is transient', async () => {
    const { url } = await serve((_, __, ___, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('part');
      setTimeout(() => response.destroy(), 20);
    });
    expect((await failureOf(http(url))).record).toMatchObject({ class: 'transient', code: 'http_connection' });
  });

  test.each(['not a url', '/relative', 'ftp://host/x', 'http://'])('the address %j is a permanent error', async (url) => {
    expect((await failureOf(http(url))).record).toMatchObject({ class: 'permanent', code: 'invalid_request' });
  });

  test('a header that could smuggle another is a permanent error', async () => {
    const { url, seen } = await serve((_, __, ___, response) => response.end());
    expect((await failureOf(http(url, { headers: { 'X-A': 'v\r\nX-B: 1' } }))).record).toMatchObject({ class: 'permanent', code: 'invalid_request' });
    expect(seen).toEqual([]);
  });

  test('a body that is no JSON, not UTF-8 or too large is a permanent error; compression does not hide its size', async () => {
    const { url } = await serve((request, _, __, response) => {
      if (request.url === '/json') response.writeHead(200, { 'content-type': 'application/json' }).end('{oops');
      else if (request.url === '/bytes') response.end(Buffer.from([0xff, 0xfe]));
      else if (request.url === '/bomb') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(17_000_000)));
      else response.end(Buffer.alloc(17_000_000));
    });
    const code = async (path: string) => {
      const { record } = await failureOf(http(url + path));
      expect(record.class).toBe('permanent');
      return record.code;
    };
    expect(await code('/json')).toBe('not_json');
    expect(await code('/bytes')).toBe('not_utf8');
    expect(await code('/large')).toBe('output_too_large');
    expect(await code('/bomb')).toBe('output_too_large');
  });

  test('an abort ends the request at once, with its cause', async () => {
    const controller = new AbortController();
    const { url } = await serve(() => setTimeout(() => controller.abort({ kind: 'attempt_timeout', limit_ms: 50 }), 50));
    const began = performance.now();
    expect((await failureOf(http(url), { signal: controller.signal })).record).toMatchObject({ class: 'timeout', code: 'timeout' });
    expect(performance.now() - began).toBeLessThan(1000);
  });

  test('secrets are masked in errors and the log', async () => {
    const secret = 's3cr3t/v4lue+9';
    const { url } = await serve((request, _, __, response) => response.writeHead(request.url === '/ok' ? 200 : 400, { 'x-echo': secret }).end(`you sent ${request.headers['authorization'] ?? ''}`));
    const headers = { Authorization: `Bearer ${secret}` };
    const context = contextOf(http(url), { secrets: [secret] });
    const { record } = await failureOf(http(`${url}/${encodeURIComponent(secret)}/x`, { headers }), context);
    expect(record.message).toContain('/***/x');
    expect(record.details).toEqual({ body: 'you sent Bearer ***' });
    expect(readFileSync(context.log_path as string, 'utf8')).toMatch(/^GET http:\/\/127.0.0.1:\d+\/\*\*\*\/x -> 400 Bad Request, \d+ bytes\n$/);
  });

  test('a secret is masked as the address spells it, also where the address is cut', async () => {
    const { url } = await serve((_, __, ___, response) => response.writeHead(400, { 'content-type': `text/x${'-'.repeat(40)}s3cr3t-v4lue-of-a-header` }).end());
    const message = async (address: string, secret: string) => (await failureOf(http(address), { secrets: [secret] })).record.message;
    for (const secret of ['ab12?behind=5678', 'front-1234?behind=5678', 'front-1234#behind', 'with blank/sl\\ash/é']) expect(await message(`${url}/x/${secret}/y`, secret)).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/x\/\*\*\*/);
    expect(await message(`${url}/hook key/1?a=b`, `${url}/hook key/1?a=b`)).toMatch(/^GET \*\*\*\?… answered 400/);
    expect(await message('S3CR3T-scheme:rest-of-it', 'S3CR3T-scheme:rest-of-it')).toBe('http.url: expected http or https, found "***"');
    expect(await message('http://S3cr3t-Host.invalid/', 'S3cr3t-Host.invalid')).not.toMatch(/s3cr3t/i);
  });

  test('what an error shows of a content type is masked before it is shortened', async () => {
    const secret = 's3cr3t-v4lue-of-a-header';
    const { url } = await serve((_, __, ___, response) => response.writeHead(200, { 'content-type': `application/json;${'-'.repeat(28)}${secret}` }).end('{'));
    expect((await failureOf(http(url), { secrets: [secret] })).record.message).not.toContain('s3cr3t');
  });
});

describe('redirects', () => {
  test('within the origin keep headers; 307 keeps the body, 303 makes it a GET', async () => {
    const { url, seen } = await serve((request, _, __, response) => {
      if (request.url === '/end') response.end('ok');
      else response.writeHead(request.url === '/see' ? 303 : 307, { location: '/end' }).end();
    });
    const action = { method: 'POST', body: 'data', headers: { 'X-Key': 'k', 'Content-Type': 'text/x' } };
    await execute(http(`${url}/keep`, action));
    await execute(http(`${url}/see`, action));
    expect(seen.map(({ method, url: path, body, headers }) => [method, path, body, headers['x-key'], headers['content-type']])).toEqual([
      ['POST', '/keep', 'data', 'k', 'text/x'],
      ['POST', '/end', 'data', 'k', 'text/x'],
      ['POST', '/see', 'data', 'k', 'text/x'],
      ['GET', '/end', '', 'k', undefined],
    ]);
  });

  test('to another origin carry no header, no credentials and no body, also when sent back', async () => {
    const secret = 's3cr3t-v4lue-9';
    let back = '';
    const other = await serve((_, __, ___, response) => response.writeHead(302, { location: back }).end());
    const first = await serve((request, _, __, response) => {
      if (request.url === '/back') response.end('ok');
      else response.writeHead(302, { location: `${other.url}/there` }).end();
    });
    back = `${first.url}/back`;
    const action = http(`${first.url.replace('//', `//user:${secret}@`)}/`, { method: 'POST', json: { token: secret }, headers: { Authorization: `Bearer ${secret}`, 'X-Key': secret, Cookie: secret } });
    expect((await outputOf(http(action.url, { ...action }), { secrets: [secret] }).catch((error: { record: unknown }) => error.record))).toMatchObject({ result: { body: 'ok' } });
    for (const request of [...other.seen, first.seen[1]]) {
      expect(JSON.stringify(request)).not.toContain(secret);
      expect(request?.headers['authorization']).toBeUndefined();
      expect(request).toMatchObject({ method: 'GET', body: '' });
    }
    expect([first.seen.length, other.seen.length]).toEqual([2, 1]);
  });

  test('that would carry the body or a secret to another origin are refused, and nothing arrives there', async () => {
    const secret = 's3cr3t-v4lue-9';
    const other = await serve((_, __, ___, response) => response.end());
    const first = await serve((request, _, __, response) => response.writeHead(307, { location: `${other.url}/${request.url === '/echo' ? secret : ''}` }).end());
    expect((await failureOf(http(first.url, { method: 'POST', body: 'data' }))).record).toMatchObject({ class: 'permanent', code: 'http_redirect', http_status: 307 });
    expect((await failureOf(http(`${first.url}/echo`), { secrets: [secret] })).record).toMatchObject({ class: 'permanent', code: 'http_redirect' });
    expect((await failureOf(http(first.url, { method: 'PUT', json: {} }))).record.code).toBe('http_redirect');
    expect(other.seen).toEqual([]);
  });

  test('are followed at most 5 times, not to other schemes, and not when not wanted', async () => {
    const { url, seen } = await serve((request, _, __, response) => response.writeHead(302, { location: request.url === '/file' ? 'file:///etc/passwd' : '/again' }).end());
    expect((await failureOf(http(url))).record).toMatchObject({ class: 'permanent', code: 'http_redirect' });
    expect(seen).toHaveLength(6);
    expect((await failureOf(http(`${url}/file`))).record).toMatchObject({ class: 'permanent', code: 'http_redirect' });
    expect((await failureOf(http(url, { follow_redirects: false }))).record).toMatchObject({ class: 'permanent', code: 'http', http_status: 302 });
    expect((await outputOf(http(url, { expect_status: ['302'] }))).result).toMatchObject({ status: 302 });
  });
});

test.each(['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n'])('a server that changes the protocol is an error, not a wait for ever: %j', async (answer) => {
  const server = createTcpServer((socket) => socket.on('error', () => undefined).once('data', () => socket.write(answer)));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const connect = answer.includes('200');
  const failure = await failureOf(http(`http://127.0.0.1:${port}/x`, connect ? { method: 'CONNECT' } : {}));
  expect(failure.record).toMatchObject({ class: 'permanent', message: expect.stringContaining('another protocol') });
});

describe('Retry-After (B32)', () => {
  const now = Date.UTC(2026, 0, 1);
  test.each([
    ['3', 3000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5000],
    ['Thursday, 01-Jan-26 00:00:05 GMT', 5000],
    ['Thu Jan  1 00:00:05 2026', 5000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['Fri, 01 Jan 2100 00:00:00 GMT', LONGEST_RETRY_AFTER_MS],
    ['99999999999999999999999', LONGEST_RETRY_AFTER_MS],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['2026-01-01', undefined],
    ['Xxx, 99 Foo 2026 00:00:05 GMT', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j means %j ms', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });

  test('is in the error of a status that may pass, and only there', async () => {
    const { url } = await serve((request, _, __, response) => response.writeHead(Number(request.url?.slice(1)), { 'retry-after': '2' }).end());
    expect((await failureOf(http(`${url}/429`))).record.retry_after_ms).toBe(2000);
    expect((await failureOf(http(`${url}/503`))).record.retry_after_ms).toBe(2000);
    expect((await failureOf(http(`${url}/404`))).record.retry_after_ms).toBeUndefined();
  });
});
