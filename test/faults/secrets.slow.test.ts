// Plans that try to get secrets out by every step kind; then every byte that was kept or printed is searched for a piece.
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PlanFolder, type Ended } from '../support/plan-command.js';

// No six characters of these stand anywhere by chance.
const SECRETS: { [name: string]: string } = {
  PLAIN: 'zq7Kx9Vw3JpL5mTd',
  SYMBOLS: `wY4"g 'k/8%R+&=?#<n>\\q;$(x)_Zé~B`,
  EQUALS: 'hG6fRt2=uJ8kWx4q',
  QUERY: 'vB5nXz1?mQ9sLc7e/yD3',
  LINES: 'pF2dVk8Y\r\nrN6bHw4T\r\ncM1jSg9X\n',
  PREFIX: 'zq7Kx9Vw',
  LONG: Array.from({ length: 40 }, (_, i) => `${i}oU${(i * 37) % 997}eA`).join('/'),
  ADDRESS: 'https://HooK.example.invalid/tX8vQ2/aZ5 cW7kP?iO=3lN6',
  ACCOUNT: JSON.stringify({ type: 'robot', key: '-----BEGIN-----\nkJ7yTg5RfVb3Nq1\n-----END-----\n' }),
};

const pieces = Object.values(SECRETS).flatMap((secret) =>
  secret.split(/[\r\n]+|\\n/).flatMap((line) => Array.from({ length: Math.max(0, line.length - 5) }, (_, at) => line.slice(at, at + 6))),
);
// Of the address and the document, these say nothing.
const PUBLIC = ['https://HooK.example.invalid/', JSON.stringify({ type: 'robot', key: '-----BEGIN-----' }), '-----END-----"}', '-----BEGIN-----', '-----END-----'];
const secretPieces = [...new Set(pieces)].filter((piece) => !PUBLIC.some((text) => text.includes(piece)));

let server: Server;
let url = '';
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const sent = `${request.url ?? ''} ${JSON.stringify(request.headers)} ${body}`;
      const kind = request.url?.split('/')[1] ?? '';
      if (kind === 'redirect') response.writeHead(302, { location: `/fail/${request.url?.slice(10) ?? ''}` }).end();
      else if (kind === 'away') response.writeHead(302, { location: `ftp://host/${request.url?.slice(6) ?? ''}` }).end();
      else if (kind === 'break') request.socket.destroy();
      else if (kind === 'fail') response.writeHead(500, { 'x-echo': encodeURIComponent(sent), 'content-type': 'text/plain' }).end(sent);
      else if (kind === 'badjson') response.writeHead(200, { 'content-type': 'application/json' }).end(`{"a": ${sent}`);
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ sent, headers: request.headers, body }));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
});
afterAll(() => void server.close());

const MODULE = `
export const log = (args, { log }) => { for (const value of Object.values(args)) { log(value); log(JSON.stringify(value)); log('half ' + value); } return null; };
export const result = (args) => args;
export const thrown = ({ s }) => { throw Object.assign(new Error('bad ' + s + ' at ' + encodeURIComponent(s)), { code: s, name: s }); };
export const record = ({ s }) => { throw Object.assign(new Error('m'), { record: { class: 'permanent', code: s, message: 'x'.repeat(3990) + s, details: { [s]: s, limit: s, deep: [s] }, signal: s, step_id: s, more: s } }); };
export const cause = ({ s }) => { throw new Error('outer ' + s, { cause: new Error('inner ' + s) }); };
export const parse = ({ s }) => JSON.parse(s);
export const nothing = ({ s }) => { throw s; };
export const notJson = ({ s }) => ({ [s]: new Map([[s, s]]) });
`;

/** A plan whose steps do all kinds of harm with one secret; every one may fail, none stops the others. */
function plan(name: string): string {
  const s = `\${{ secrets.${name} }}`;
  const env = `env: { S: "${s}" }`;
  const steps: string[] = [
    `run: 'echo "$S"; printf "%s" "$S" >&2; printf "%q\\n" "$S"; set -x; true "$S"; true "/$S/"', ${env}`,
    `run: 'printf "%s" "$S" | base64; printf "%s" "$S" | base64 -w0; printf "user:%s" "$S" | base64; printf "%s" "$S" | od -An -tx1 | tr -d " \\n"', ${env}`,
    `run: 'for i in 1 2 3; do printf "%s" "\${S:0:9}"; sleep 0.05; printf "%s" "\${S:9}"; done; exit 3', ${env}`,
    `run: 'printf "%s" "\${S:0:12}"; kill -9 $$', ${env}`,
    `run: 'printf "%s" "\${S:0:10}"; sleep 60', attempt_timeout: 300ms, kill_grace: 100ms, ${env}`,
    `run: 'head -c 5000 /dev/zero | tr "\\0" x; printf "%s" "$S"; head -c 2040 /dev/zero | tr "\\0" y; exit 1', ${env}`,
    `run: 'printf "\\377\\300%s\\377" "$S"; exit 1', ${env}`,
    `run: 'cat; cat /dev/stdin; exit 1', stdin: "${s}"`,
    `run: 'echo "$S"', stdout: text, ${env}`,
    `run: 'echo "$S"; echo x', stdout: lines, ${env}`,
    `run: 'echo "$S"', stdout: json, ${env}`,
    `run: 'printf "[%s" "$S"', stdout: json, ${env}`,
    `run: 'echo "o=$S" >> $PLAN_OUTPUT', outputs: { o: string }, ${env}`,
    `run: 'echo "o=https://u:$S@host" >> $PLAN_OUTPUT', outputs: { o: string }, ${env}`,
    `run: 'echo "$S" >> $PLAN_OUTPUT', outputs: { o: string }, ${env}`,
    `run: 'echo "$S=1" >> $PLAN_OUTPUT', outputs: { o: string }, ${env}`,
    `run: 'echo "o=$S" >> $PLAN_OUTPUT', outputs: { o: integer }, ${env}`,
    `run: 'printf "{%s" "$S" >> $PLAN_OUTPUT', outputs: { o: object }, ${env}`,
    `run: [sh, -c, 'echo "$S" > /dev/stderr; exit 75'], retry: { max_attempts: 2, delay: 1ms, retry_on: [any] }, ${env}`,
    `run: 'true', env: { X: "\${{ 'a'.matches(secrets.${name} + '[') ? 'x' : 'y' }}" }`,
    `run: 'true', env: { X: "\${{ int(secrets.${name}) }}" }`,
    `run: 'true', env: { X: "\${{ fromJson(secrets.${name}) }}" }`,
    `run: 'true', env: { X: "\${{ timestamp(secrets.${name}) }}" }`,
    ...['ok', 'redirect', 'away', 'break', 'fail', 'badjson'].flatMap((kind) => [
      `http: { url: "${url}/${kind}/${s}" }`,
      `http: { method: POST, url: "${url}/${kind}", query: { q: "${s}" }, headers: { Authorization: "Bearer \${{ replace(replace(secrets.${name}, '\\\\r', ' '), '\\\\n', ' ') }}" }, json: { deep: ["${s}"] } }`,
      `http: { method: POST, url: "${url}/${kind}/?k=${s}", body: "${s}" }`,
    ]),
    `http: { url: "http://\${{ 'u:' + secrets.${name} }}@127.0.0.1:1/x" }`,
    `http: { url: "http://${s}.invalid/x" }`,
    `http: { url: "${s}" }`,
    `http: { url: "${url}", headers: { X: "${s}\\u0001" } }`,
    `http: { url: "${url}/ok", headers: { X-Y: "\${{ replace(replace(secrets.${name}, '\\\\r', ' '), '\\\\n', ' ') }}" } }, outputs: { sent: string }`,
    ...['log', 'result', 'thrown', 'record', 'cause', 'parse', 'nothing', 'notJson'].map((fn) => `call: { function: "./m.mjs#${fn}", args: { s: "${s}" } }`),
    `call: { function: "./m.mjs#result", args: { s: "${s}" } }, outputs: { s: string }`,
    `call: { function: "./m.mjs#result", args: { s: "${s}" } }, outputs: { s: integer }`,
  ];
  const listed = steps.map((step, i) => `  s${i}: { ${step}, continue_on_error: true }`).join('\n');
  return `plan: 1
name: attack
secrets: [${Object.keys(SECRETS).join(', ')}]
env: { ALL: "${s}" }
scheduling: eager
steps:
${listed}
  reads: { after: any, needs: [s0], check: { that: "default(steps.s${steps.length - 10}.result.s, 'x') == 'y'", message: "it is \${{ default(steps.s${steps.length - 9}.result.s, 'none') }}" }, continue_on_error: true }
  ends: { needs: [reads], run: 'echo "$ALL"; exit 9' }
finally:
  last: { run: 'echo "$S"; echo "$S" >&2; echo "o=$S" >> $PLAN_OUTPUT; exit 4', outputs: { o: string }, env: { S: "${s}" } }
`;
}

function expectNothingOf(kept: Buffer, where: string): void {
  const found = secretPieces.filter((piece) => kept.includes(piece) || kept.includes(JSON.stringify(piece).slice(1, -1)));
  expect(found.slice(0, 5).map((piece) => `${where}: ${piece}: ${around(kept, piece)}`)).toEqual([]);
}

function around(kept: Buffer, piece: string): string {
  const at = Math.max(0, kept.indexOf(piece));
  return kept.subarray(Math.max(0, at - 100), at + 60).toString('latin1');
}

describe('no piece of a secret is kept or printed', () => {
  test.each(Object.keys(SECRETS))('of %s', async (name) => {
    const folder = new PlanFolder(plan(name));
    folder.write('m.mjs', MODULE);
    const shown: Ended[] = [await folder.plan(['run', 'p.yaml', '--session', 'S'], SECRETS)];
    expect(shown[0]?.stdout).toContain('cannot be passed on');
    expect(shown[0]?.code).toBe(1);
    for (const args of [['retry', 'S', '--json'], ['show', 'S'], ['events', 'S', '--json'], ['logs', 'S']]) shown.push(await folder.plan(args, SECRETS));
    expectNothingOf(folder.storeBytes(), 'store and logs');
    for (const [i, { stdout, stderr }] of shown.entries()) expectNothingOf(Buffer.from(stdout + stderr), `command ${i}`);
  }, 120_000);

  test('nor when the process is killed in the middle', async () => {
    const folder = new PlanFolder(`plan: 1
name: killed
secrets: [PLAIN]
steps:
  a: { run: 'for i in $(seq 200); do printf "%s" "$S"; printf "%s" "\${S:0:11}" >&2; sleep 0.01; done', env: { S: "\${{ secrets.PLAIN }}" } }
`);
    const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S'], SECRETS);
    await folder.until('some output', () => folder.exists('.plan') && folder.storeBytes().includes('***'));
    child.kill('SIGKILL');
    const first = await ended;
    const cancelled = await folder.plan(['cancel', 'S', '--reason', `because of ${SECRETS['PLAIN'] ?? ''}`], SECRETS);
    expect(cancelled.code).toBe(0);
    // A half that the next text follows cannot be told from other text; the whole never shows.
    const kept = Buffer.concat([folder.storeBytes(), Buffer.from(first.stdout + first.stderr + cancelled.stdout + cancelled.stderr)]);
    expect(kept.includes(SECRETS['PLAIN'] ?? '')).toBe(false);
  });

  test('nor by a run that is refused: of a param, a params file, a session id, the plan, a variable of the host', async () => {
    const secret = SECRETS['PLAIN'] ?? '';
    const folder = new PlanFolder('plan: 1\nname: refused\nsecrets: [PLAIN]\nparams: { p: { type: integer, default: 1 } }\nsteps: { a: { run: "echo 1 >> fx", env: { URL: } } }\n');
    folder.write('bad.yaml', `p: "x" "${secret}"\n`);
    folder.write('good.yaml', `p: "${secret}"\n`);
    folder.write('holds.yaml', `plan: 1\nname: holds\nsecrets: [PLAIN]\nsteps: { a: { run: "echo ${secret} >> fx" } }\n`);
    folder.write('short.yaml', 'plan: 1\nname: short\nsecrets: [SHORT]\nsteps: { a: { run: "echo 1" } }\n');
    const refused: Array<[string[], string]> = [
      [['p.yaml', '--param', `p=${secret}`], 'secret PLAIN'],
      [['p.yaml', '--param', `${secret}=1`], 'secret PLAIN'],
      [['p.yaml', '--params-file', 'bad.yaml'], 'not YAML'],
      [['p.yaml', '--params-file', 'good.yaml'], 'param p'],
      [['p.yaml', '--session', `s-${secret}`], 'session id'],
      [['holds.yaml'], 'holds.yaml:4'],
      [['p.yaml'], 'variable URL'],
    ];
    for (const [args, said] of refused) {
      for (const json of [[], ['--json']]) {
        const { code, stdout, stderr } = await folder.plan(['run', ...args, ...json], { PLAIN: secret, URL: `https://${secret}@host` });
        expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
        expectNothingOf(Buffer.from(stdout + stderr), args.join(' '));
      }
    }
    expectNothingOf(folder.storeBytes(), 'store');
    expect(folder.exists('fx')).toBe(false);
    const short = await folder.plan(['run', 'short.yaml'], { SHORT: '1' });
    expect([short.code, short.stderr]).toEqual([0, expect.stringContaining('warning: the secret SHORT')]);
  });
});
