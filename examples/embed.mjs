// Embeds the executor: a data load whose functions live in this program. It crashes on purpose half way (pass --crash),
// and a second start of the same command goes on where the first one stopped.
//
//   node examples/embed.mjs ./data          runs, or resumes what was left
//   node examples/embed.mjs ./data --crash  dies with SIGKILL while the second batch is being loaded
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadPlan, PlanExecutor, TransientError } from 'planwright';
import { openSqliteStore } from 'planwright/sqlite';

const folder = process.argv[2] ?? './data';
const crash = process.argv.includes('--crash');
mkdirSync(folder, { recursive: true });

const plan = await loadPlan({
  source: `
plan: 1
name: load
params: { batches: { type: integer, default: 3 } }
steps:
  list: { call: { function: list_batches, args: { count: "\${{ params.batches }}" } }, outputs: { batches: array } }
  first: { call: { function: load_batch, args: { batch: "\${{ steps.list.outputs.batches[0] }}" } }, outputs: { rows: integer } }
  second:
    needs: [first]
    call: { function: load_batch, args: { batch: "\${{ steps.list.outputs.batches[1] }}" } }
    outputs: { rows: integer }
    retry: { max_attempts: 5, delay: 100ms }
  enough: { check: { that: steps.first.outputs.rows + steps.second.outputs.rows > 0, message: nothing was loaded } }
outputs: { rows: "\${{ steps.first.outputs.rows + steps.second.outputs.rows }}" }
`,
});
if (!plan.ok) throw new Error(plan.problems.map((problem) => problem.message).join('\n'));

const store = await openSqliteStore({ path: join(folder, 'plan.db') });
const executor = new PlanExecutor({
  store,
  functions: {
    list_batches: ({ count }) => ({ batches: Array.from({ length: count }, (_, i) => `batch-${i + 1}`) }),
    load_batch: ({ batch }, { attempt, log }) => {
      log(`loading ${batch}, attempt ${attempt}`);
      if (crash && batch === 'batch-2') process.kill(process.pid, 'SIGKILL');
      if (batch === 'batch-2' && attempt === 1) throw new TransientError('the warehouse is busy');
      appendFileSync(join(folder, 'loaded.txt'), `${batch}\n`);
      return { rows: batch.length };
    },
  },
});

// One session per day: the name says whether there is something to resume.
const sessionId = 'load-today';
const handle = (await store.getSession(sessionId)) === undefined ? executor.run(plan, { sessionId }) : executor.resume(sessionId);
for await (const event of handle) {
  if (event.step_id !== undefined) console.log(`${event.seq} ${event.type} ${event.step_id}`);
}
const result = await handle.result;
console.log(`${result.status}: ${JSON.stringify(result.outputs)}`);
await store.close();
