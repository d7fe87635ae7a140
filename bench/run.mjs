// Measures Planwright beside its floors and the peers that are installed, all in one run, and writes docs/performance.md.
// Usage: npm run bench [-- --rounds 5] [--only fan,chain]
import { spawnSync, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadPlan, PlanExecutor } from '../dist/index.js';
import { openSqliteStore } from '../dist/store/sqlite/index.js';
import { floorChain, floorCommands, floorFan, floorLoad } from './floors.mjs';
import { rounds, timed } from './measure.mjs';

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' }, out: { type: 'string' } } });
const ROUNDS = Number(flags.rounds);
// In-process rounds that are not counted. The first run of a process takes about twice as long: see the command figures.
const WARM = 4;
const PLAN = resolve(import.meta.dirname, '../bin/plan.js');
const scratch = mkdtempSync(join(tmpdir(), 'planwright-bench-'));
let serial = 0;
const fresh = () => join(scratch, `${(serial += 1)}.db`);

// A Node start reads this bundle when it is set, which would be measured as ours.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;

async function planOf(steps, head = '') {
  const result = await loadPlan({ source: `plan: 1\nname: bench\n${head}\nsteps:\n${steps}`, file: 'bench.yaml', base_dir: scratch });
  if (!result.ok) throw new Error(JSON.stringify(result.problems[0]));
  return result;
}

const fanSteps = (count) => Array.from({ length: count }, (_, i) => `  s${i}: { call: { function: noop, args: { i: ${i} } } }`).join('\n');
const chainSteps = (count) =>
  Array.from({ length: count }, (_, i) => `  s${i}: { call: { function: noop, args: { i: ${i} } }${i > 0 ? `, needs: [s${i - 1}]` : ''} }`).join('\n');
const noop = async (args) => ({ ...args, ok: true });

async function runInProcess(loaded) {
  return timed(
    () => openSqliteStore({ path: fresh() }),
    async (store) => {
      const result = await new PlanExecutor({ store, functions: { noop } }).run(loaded).result;
      if (result.status !== 'completed') throw new Error(`bench run ended ${result.status}: ${result.error?.message}`);
      await store.close();
    },
  );
}

function wholeProcess(command, args, options = {}) {
  const start = performance.now();
  const child = spawnSync(command, args, { cwd: scratch, env, stdio: ['ignore', 'ignore', 'pipe'], ...options });
  if (child.status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${child.status} ${child.stderr}`);
  return performance.now() - start;
}

const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

const benches = {
  async fan() {
    const plan = await planOf(fanSteps(1000), 'concurrency: 16');
    return {
      title: 'fan of 1,000 no-op steps, 16 at once (in process, warm, ms)',
      floor: 'floor: bare better-sqlite3, the same rows (charge, result, events), group commit, FULL',
      result: await rounds(ROUNDS, {
        planwright: () => runInProcess(plan),
        floor: () => timed(fresh, (file) => floorFan(file, 1000, 16, 'same')),
        'one row a step, no charge, no events': () => timed(fresh, (file) => floorFan(file, 1000, 16, 'one')),
      }, WARM),
    };
  },
  async chain() {
    const plan = await planOf(chainSteps(500));
    return {
      title: 'chain of 500 no-op steps (in process, warm, ms)',
      floor: 'floor: bare better-sqlite3, the same rows (charge, result, events), one commit a step, FULL',
      result: await rounds(ROUNDS, {
        planwright: () => runInProcess(plan),
        floor: () => timed(fresh, (file) => floorChain(file, 500, 'same')),
        'one row a step, no charge, no events': () => timed(fresh, (file) => floorChain(file, 500, 'one')),
      }, WARM),
    };
  },
  async three() {
    const file = join(scratch, 'three.yaml');
    writeFileSync(file, 'plan: 1\nname: three\nsteps:\n  a: { set: { n: 1 } }\n  b: { set: { n: "${{ steps.a.outputs.n + 1 }}" } }\n  c: { check: steps.b.outputs.n == 2 }\n');
    return {
      title: 'a whole run of 3 steps (process from start to exit, ms)',
      floor: 'floor: `node -e 0`',
      result: await rounds(ROUNDS, {
        planwright: () => wholeProcess(process.execPath, [PLAN, 'run', file, '--store', fresh()]),
        floor: () => wholeProcess(process.execPath, ['-e', '0']),
      }),
    };
  },
  async commands() {
    const file = join(scratch, 'commands.yaml');
    writeFileSync(file, `plan: 1\nname: commands\nconcurrency: 16\nsteps:\n${Array.from({ length: 1000 }, (_, i) => `  s${i}: { run: [sh, -c, "true"] }`).join('\n')}\n`);
    const make = join(scratch, 'Makefile');
    writeFileSync(make, `all: ${Array.from({ length: 1000 }, (_, i) => `s${i}`).join(' ')}\n.PHONY: all\n${Array.from({ length: 1000 }, (_, i) => `s${i}:\n\t@sh -c true;:`).join('\n')}\n`);
    const measurements = {
      planwright: () => wholeProcess(process.execPath, [PLAN, 'run', file, '--quiet', '--store', fresh()]),
      floor: () => timed(fresh, (db) => floorCommands(db, 1000, 16)),
    };
    if (has('make')) measurements['make -j16'] = () => wholeProcess('make', ['-s', '-j16', '-f', make]);
    return {
      title: '1,000 commands `sh -c true`, 16 at once (whole process, ms)',
      floor: 'floor: node spawn in its own group, saved before and after, group commit, FULL',
      result: await rounds(Math.min(ROUNDS, 3), measurements),
    };
  },
  async resume() {
    const count = 10_000;
    const path = fresh();
    const store = await openSqliteStore({ path });
    let go = false;
    const functions = { noop, last: () => { if (!go) throw new Error('not yet'); return null; } };
    const plan = await planOf(`${fanSteps(count - 1)}\n  last: { after: any, needs: [s0], call: { function: last } }`, 'concurrency: 16\nscheduling: eager');
    await new PlanExecutor({ store, functions }).run(plan, { sessionId: 'S' }).result;
    await store.close();
    const load = floorLoad(fresh(), count);
    return {
      title: 'resume of a session of 10,000 steps of which one is left (in process, ms)',
      floor: 'floor: read and parse 10,000 rows',
      result: await rounds(ROUNDS, {
        planwright: () =>
          timed(
            () => openSqliteStore({ path }),
            async (again) => {
              const result = await new PlanExecutor({ store: again, functions }).resume('S').result;
              if (result.counts.completed !== count - 1) throw new Error('the resume lost steps');
              await again.close();
            },
          ),
        floor: () => timed(() => undefined, async () => load()),
      }),
    };
  },
  async memory() {
    const sizes = [5_000, 50_000];
    const measure = (count) =>
      Number(execFileSync(process.execPath, ['--expose-gc', join(import.meta.dirname, 'memory.mjs'), String(count), fresh()], { env, encoding: 'utf8' }));
    const values = Object.fromEntries(sizes.map((count) => [`${count} steps`, () => measure(count)]));
    return { title: 'memory: peak resident size of a fan run in process (MB)', floor: 'growth must be linear', result: await rounds(1, values) };
  },
};

const wanted = flags.only?.split(',') ?? Object.keys(benches);
const sections = [];
for (const name of wanted) {
  const { title, floor, result } = await benches[name]();
  const base = result.get('floor')?.median;
  const rows = [...result].map(([who, s]) => `| ${who} | ${s.median.toFixed(1)} | ${s.min.toFixed(1)} | ${s.max.toFixed(1)} | ${base === undefined ? '' : (s.median / base).toFixed(2)} |`);
  sections.push(`## ${title}\n\n${floor}\n\n| who | median | min | max | times the floor |\n|---|---|---|---|---|\n${rows.join('\n')}`);
  console.log(`${sections.at(-1)}\n`);
}
rmSync(scratch, { recursive: true, force: true });

const machine = `${cpus().length} cores ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform}`;
if (flags.only === undefined || flags.out !== undefined) {
  const out = flags.out ?? resolve(import.meta.dirname, '../docs/performance.md');
  writeFileSync(out, `# Performance\n\nWritten by \`npm run bench\`, never by hand. Everything in a table was measured in turn in one run: ratios mean more than\nmilliseconds. ${machine}; ${ROUNDS} rounds.\n\n${sections.join('\n\n')}\n`);
}
