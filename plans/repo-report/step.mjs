// What every counting step does alike: it reads REPO (the folder) and HEAD (the commit, empty when there is none), gives
// its outputs as one line of JSON in $PLAN_OUTPUT, and says one sentence for people.
import { appendFileSync } from 'node:fs';

/**
 * @template {object} Outputs
 * @param {(input: { repo: string; head: string; top: number }) => Promise<Outputs>} count
 * @param {(outputs: Outputs) => string} say
 */
export async function step(count, say) {
  const { REPO: repo, HEAD: head = '', TOP: top = '20', PLAN_OUTPUT: file } = process.env;
  if (repo === undefined || file === undefined) throw new Error('REPO and PLAN_OUTPUT must be set: run this by plan run plans/repo-report.yaml');
  const outputs = await count({ repo, head, top: Number(top) });
  appendFileSync(file, `${JSON.stringify(outputs)}\n`);
  console.log(say(outputs));
}

/** The entries of a map of numbers, largest first; equal ones by name, so that the order is always the same. */
export function ranked(counts) {
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : a > b ? 1 : 0));
}
