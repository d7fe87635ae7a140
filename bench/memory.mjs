// Runs a fan of N steps in a process of its own and prints its peak resident size in MB.
import { loadPlan, PlanExecutor } from '../dist/index.js';
import { openSqliteStore } from '../dist/store/sqlite/index.js';

const [count, path] = [Number(process.argv[2]), process.argv[3]];
const steps = Array.from({ length: count }, (_, i) => `  s${i}: { call: { function: noop, args: { i: ${i} } } }`).join('\n');
const loaded = await loadPlan({ source: `plan: 1\nname: memory\nconcurrency: 16\nsteps:\n${steps}\n`, file: 'memory.yaml' });
if (!loaded.ok) throw new Error(loaded.problems[0].message);
const store = await openSqliteStore({ path });
const result = await new PlanExecutor({ store, functions: { noop: async (args) => ({ ...args, ok: true }) } }).run(loaded).result;
if (result.counts.completed !== count) throw new Error(`only ${result.counts.completed} completed`);
await store.close();
console.log((process.resourceUsage().maxRSS / 1024).toFixed(1));
