// The plans that people copy: each on real input, then killed and resumed.
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { killAndResume } from './kill-and-resume.js';
import { PlanRig, ROOT } from './plan-rig.js';

const rig = new PlanRig();
const plans = (name: string) => join(ROOT, 'plans', name);
const servers: Server[] = [];
beforeEach(() => rig.emptyOut());
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
afterAll(() => rig.remove());

/** A server that counts what it is asked, by path and page. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse, times: number) => void) {
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const key = `${url.pathname}${url.searchParams.get('page') ?? ''}`;
    asked.set(key, (asked.get(key) ?? 0) + 1);
    // Slow enough for a kill to come while an answer is awaited.
    setTimeout(() => answer(request, response, asked.get(key) as number), 150);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { asked, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const json = (response: ServerResponse, status: number, body: unknown) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

async function run(name: string, args: string[], session: string) {
  const ended = await rig.plan(['run', plans(name), ...args, '--session', session]);
  return { ...ended, said: ended.stdout + ended.stderr, shown: await rig.show(session) };
}

describe('etl.yaml', () => {
  const ORDERS = Array.from({ length: 10 }, (_, i) => ({ id: i + 1, customer: `C${i % 3}`, amount: i === 4 ? '' : `${i + 1}.5${i}` }));
  const valid = ORDERS.filter((order) => order.amount !== '');
  const cents = valid.reduce((sum, order) => sum + Math.round(Number(order.amount) * 100), 0);
  const outputs = { rows: valid.length, rejected: 1, revenue_cents: cents, rows_in_table: valid.length };
  // Three pages; the first request for each is refused with 503.
  const shop = () =>
    serve((request, response, times) => {
      const page = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('page'));
      if (times === 1) return json(response, 503, { error: 'busy' });
      return json(response, 200, { pages: 3, total: ORDERS.length, items: ORDERS.slice((page - 1) * 4, page * 4) });
    });
  const database = join(rig.out, 'orders.db');
  const table = () => {
    const db = new Database(database, { readonly: true });
    const rows = db.prepare('select id, customer, day, cents from orders order by id').all();
    db.close();
    return rows;
  };

  test('loads every page although the service fails once for each, and a second load changes nothing', async () => {
    const { url, asked } = await shop();
    const args = ['--param', `base_url=${url}`, '--param', `database=${database}`];
    const first = await run('etl.yaml', args, 'etl-1');
    expect([first.code, first.shown.outputs], first.said).toEqual([0, outputs]);
    expect(Object.fromEntries(asked)).toEqual({ '/orders1': 2, '/orders2': 2, '/orders3': 2 });
    const rows = table();
    expect(rows).toEqual(valid.map((order) => ({ id: order.id, customer: order.customer, day: '2026-11-30', cents: Math.round(Number(order.amount) * 100) })));
    expect((await run('etl.yaml', args, 'etl-2')).code).toBe(0);
    expect(table()).toEqual(rows);
  });

  test('fails when there are no orders, or more pages than it fetches, and leaves the table alone', async () => {
    for (const [body, reason] of [
      [{ pages: 1, total: 0, items: [] }, 'at least one'],
      [{ pages: 9, total: 90, items: ORDERS }, 'has 9 pages'],
    ] as const) {
      const { url } = await serve((_, response) => json(response, 200, body));
      const file = join(rig.out, 'none.db');
      const ended = await rig.plan(['run', plans('etl.yaml'), '--param', `base_url=${url}`, '--param', `database=${file}`]);
      expect([ended.code, existsSync(file)], ended.stderr).toEqual([1, false]);
      expect(ended.stdout + ended.stderr).toContain(reason);
    }
  });

  test('is killed and resumed to the same table, and asks for no page that it has', async () => {
    const { url, asked } = await shop();
    await killAndResume(
      rig,
      {
        args: [plans('etl.yaml'), '--param', `base_url=${url}`, '--param', `database=${database}`],
        result: table,
        effects: () => new Map([...rig.begun(), ...[...asked].map(([key, n]) => [key.replace('/orders', 'page_'), n] as const)]),
        beforeRun: () => asked.clear(),
      },
      3,
    );
  });
});

describe('quality-gate.yaml', () => {
  const good = plans('quality-gate/orders.csv');
  const bad = plans('quality-gate/orders-bad.csv');
  const tree = () => (existsSync(rig.out) ? (readdirSync(rig.out, { recursive: true }) as string[]).map((path) => path.replace(/(straight|killed|gate)-\w+/, 'SESSION')).sort() : []);
  const args = (input: string) => ['--param', `input=${input}`, '--param', `out=${rig.out}`];

  test('publishes good data as it is, and quarantines bad data with every reason', async () => {
    const published = await run('quality-gate.yaml', args(good), 'gate-good');
    expect([published.code, published.shown.outputs], published.said).toEqual([0, { rows: 24, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect(readFileSync(join(rig.out, 'published', 'orders.csv'))).toEqual(readFileSync(good));
    expect(existsSync(join(rig.out, 'quarantine'))).toBe(false);

    const { url, asked } = await serve((_, response) => json(response, 200, {}));
    const refused = await run('quality-gate.yaml', [...args(bad), '--param', `notify_url=${url}/told`], 'gate-bad');
    expect([refused.code, refused.shown.status, asked.get('/told')], refused.said).toEqual([1, 'failed', 1]);
    expect(existsSync(join(rig.out, 'published', 'orders-bad.csv'))).toBe(false);
    expect(readFileSync(join(rig.out, 'quarantine', 'gate-bad', 'orders-bad.csv'))).toEqual(readFileSync(bad));
    expect(readFileSync(join(rig.out, 'quarantine', 'gate-bad', 'reasons.txt'), 'utf8')).toBe(
      'columns: completed\nrows: completed\nunique ids: failed\namounts present: failed\namounts positive: failed\n',
    );
  });

  test.each([['good', good, 0], ['bad', bad, 1]] as const)('is killed and resumed to the same verdict on %s data', async (_, input, code) => {
    await killAndResume(rig, { args: [plans('quality-gate.yaml'), ...args(input)], result: tree, effects: () => rig.begun(), code }, 2);
  });
});

describe('backup.yaml', () => {
  const source = plans('backup/shop.db');
  const args = ['--param', `out=${rig.out}`];
  // What the backups hold: read from the packed files themselves.
  const backups = () =>
    readdirSync(rig.out)
      .filter((name) => name.endsWith('.gz'))
      .map((name) => rowsOf(new Database(gunzipSync(readFileSync(join(rig.out, name))))));
  const rowsOf = (db: Database.Database) => {
    const rows = ['customers', 'orders'].map((name) => db.prepare(`select * from ${name} order by id`).all());
    db.close();
    return rows;
  };
  const wanted = () => rowsOf(new Database(source, { readonly: true }));

  test('makes a backup that restores to the same rows, keeps the newest and drops its scratch', async () => {
    for (let i = 0; i < 3; i += 1) expect((await run('backup.yaml', [...args, '--param', 'keep=2'], `backup-${i}`)).code).toBe(0);
    expect(readdirSync(rig.out).sort()).toEqual(['backup-backup-1.db.gz', 'backup-backup-2.db.gz']);
    expect(backups()).toEqual([wanted(), wanted()]);
    expect((await rig.show('backup-2')).outputs).toEqual({ rows: { customers: 5, orders: 40 }, bytes: expect.any(Number), kept: 2 });
  });

  test('fails on a file that is no database, removes nothing and still drops its scratch', async () => {
    writeFileSync(join(rig.out, 'backup-old.db.gz'), '');
    writeFileSync(join(rig.out, 'backup-older.db.gz'), '');
    const before = readdirSync(rig.out);
    const ended = await run('backup.yaml', [...args, '--param', `database=${plans('backup.yaml')}`, '--param', 'keep=1'], 'backup-bad');
    expect([ended.code, ended.said], ended.said).toEqual([1, expect.stringContaining('not a database')]);
    expect(readdirSync(rig.out).sort()).toEqual(before.sort());
  });

  test('is killed and resumed to one backup and no scratch', async () => {
    await killAndResume(
      rig,
      {
        args: [plans('backup.yaml'), ...args],
        result: () => ({ backups: backups(), files: readdirSync(rig.out).map((name) => name.replace(/(straight|killed)-\d+/, 'SESSION')) }),
        effects: () => rig.begun(),
      },
      2,
    );
    expect(backups()).toEqual([wanted()]);
  });
});

describe('log-report.yaml', () => {
  const args = ['--param', `out=${rig.out}`];
  const report = () => readFileSync(join(rig.out, 'report.md'), 'utf8');

  test('counts what the lines of the logs say', async () => {
    const ended = await run('log-report.yaml', args, 'logs');
    const folder = plans('log-report');
    const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
    const parsed = lines.map((line) => /^\S+ \S+ \S+ \[(?<at>[^\]]+)\] "\S+ (?<path>\S+) \S+" (?<status>\d+) (?<bytes>\d+) /.exec(line)?.groups as { at: string; path: string; status: string; bytes: string });
    const errors = parsed.filter((entry) => Number(entry.status) >= 500);
    expect([ended.code, ended.shown.outputs], ended.said).toEqual([0, { requests: lines.length, bytes: parsed.reduce((sum, entry) => sum + Number(entry.bytes), 0), errors: errors.length }]);
    const list = (keys: string[], by: 'count' | 'name') => {
      const counts = new Map<string, number>();
      for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
      const sorted = [...counts].sort(([a, x], [b, y]) => (by === 'count' && y !== x ? y - x : a < b ? -1 : 1));
      return sorted.map(([key, n]) => `    ${n} ${key}`).join('\n');
    };
    expect(report()).toContain(`## By status\n\n${list(parsed.map((entry) => entry.status), 'count')}\n`);
    expect(report()).toContain(`## By path\n\n${list(parsed.map((entry) => entry.path.replace(/\?.*/, '')), 'count')}\n`);
    expect(report()).toContain(`## By hour\n\n${list(parsed.map((entry) => `2026-11-30 ${entry.at.slice(12, 14)}:00`), 'name')}\n`);
    expect(existsSync('/tmp/never'), 'what a log line holds is data').toBe(false);
  });

  test('is killed and resumed to the same report', async () => {
    await killAndResume(rig, { args: [plans('log-report.yaml'), ...args], result: report, effects: () => rig.begun() }, 2);
  });
});

describe('incident-runbook.yaml', () => {
  const reports = () => readdirSync(rig.out).map((name) => readFileSync(join(rig.out, name), 'utf8'));

  test('reports who answers and who does not, and calls somebody once', async () => {
    const up = await serve((_, response) => json(response, 200, { ok: true }));
    const ill = await serve((_, response) => json(response, 500, { ok: false }));
    const gone = await serve(() => undefined);
    gone.server.close();
    const ended = await run(
      'incident-runbook.yaml',
      ['--param', `out=${rig.out}`, '--param', `web=${up.url}/health`, '--param', `db=${ill.url}/health`, '--param', `queue=${gone.url}/health`, '--param', `pager_url=${up.url}/page`],
      'incident',
    );
    expect([ended.code, ended.shown.outputs], ended.said).toEqual([0, { reachable: 1, services: 'web    completed\ndb     failed\nqueue  failed' }]);
    expect([Object.fromEntries(up.asked), Object.fromEntries(ill.asked)]).toEqual([{ '/health': 1, '/page': 1 }, { '/health': 2 }]);
    const [report] = reports();
    expect(report).toMatch(/^# Incident incident\n\n1 of 3 services answer\.\n/);
    expect(report).toMatch(/## Disks\n\n {4}Filesystem .*\n( {4}.*\n)+/);
  });

  test('is killed and resumed to the same finding, and what answered is not asked again', async () => {
    const up = await serve((_, response) => json(response, 200, { ok: true }));
    const ill = await serve((_, response) => json(response, 500, { ok: false }));
    const count = (key: string, step: string, asked: Map<string, number>) => (asked.has(key) ? [[step, asked.get(key) as number] as const] : []);
    await killAndResume(
      rig,
      {
        args: [plans('incident-runbook.yaml'), '--param', `out=${rig.out}`, '--param', `web=${up.url}/web`, '--param', `db=${ill.url}/db`, '--param', `queue=${up.url}/queue`, '--param', 'quorum=3', '--param', `pager_url=${up.url}/page`],
        // Disks, load and processes are never twice the same.
        result: () => reports().map((text) => text.split('## Disks')[0]?.replace(/(straight|killed)-\d+/, 'SESSION')),
        effects: () =>
          new Map([
            ...rig.begun(),
            ...count('/web', 'web', up.asked),
            ...count('/db', 'db', ill.asked),
            ...count('/queue', 'queue', up.asked),
            ...count('/page', 'call_somebody', up.asked),
          ]),
        beforeRun: () => {
          up.asked.clear();
          ill.asked.clear();
        },
      },
      2,
    );
  });
});

describe('release.yaml', () => {
  const live = () => readlinkSync(join(rig.out, 'live'));
  const args = (...more: string[]) => ['--param', `out=${rig.out}`, '--param', 'bake=300ms', ...more];

  test('puts a release live, and goes back to the one before when the next does not stay healthy', async () => {
    const first = await run('release.yaml', args(), 'release-1');
    expect([first.code, first.shown.outputs, live()], first.said).toEqual([0, { release: 'releases/release-1', files: 2 }, 'releases/release-1']);
    expect(readFileSync(join(rig.out, 'live', 'index.html'))).toEqual(readFileSync(plans('release/site/index.html')));

    let seen = '';
    const { url } = await serve((_, response, times) => {
      if (times === 2) seen = live();
      json(response, times === 2 ? 200 : 503, {}); // not yet, healthy, and ill after the bake
    });
    const second = await run('release.yaml', args('--param', `health_url=${url}/health`), 'release-2');
    expect([second.code, seen, live()], second.said).toEqual([1, 'releases/release-2', 'releases/release-1']);
    expect(readdirSync(join(rig.out, 'releases'))).toEqual(['release-1']);
  });

  test('does not touch what is live when there is nothing to release', async () => {
    mkdirSync(join(rig.out, 'releases', 'old'), { recursive: true });
    symlinkSync('releases/old', join(rig.out, 'live'));
    const ended = await run('release.yaml', args('--param', `site=${join(rig.dir, 'no such folder')}`), 'release-none');
    expect([ended.code, live(), readdirSync(join(rig.out, 'releases'))], ended.said).toEqual([1, 'releases/old', ['old']]);
  });

  test('is killed and resumed to the same release', async () => {
    const state = () => [live(), ...readdirSync(rig.out, { recursive: true })].map((path) => String(path).replace(/(straight|killed)-\d+/, 'SESSION')).sort();
    await killAndResume(rig, { args: [plans('release.yaml'), ...args()], result: state, effects: () => rig.begun() }, 2);
  });
});
