// What every step of the report does alike: it reads REPO (the folder) and HEAD (the commit, empty when there is none)
// and prints one JSON object.

/** @param {(input: { repo: string; head: string; top: number }) => Promise<object>} count */
export async function step(count) {
  const { REPO: repo, HEAD: head = '', TOP: top = '20' } = process.env;
  if (repo === undefined) throw new Error('REPO is not set: expected the folder of the repository');
  console.log(JSON.stringify(await count({ repo, head, top: Number(top) })));
}

/** The entries of a map of numbers, largest first; equal ones by name, so that the order is always the same. */
export function ranked(counts) {
  return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : a > b ? 1 : 0));
}
