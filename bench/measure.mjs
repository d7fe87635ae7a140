// Rounds of several measurements in turn, so that a slow minute of the machine hits all of them.
// `warm`: rounds before that are not counted, for what runs in this process: its code is compiled while it runs.
export async function rounds(count, measurements, warm = 0) {
  const times = new Map(Object.keys(measurements).map((name) => [name, []]));
  for (let round = -warm; round < count; round += 1) {
    for (const [name, run] of Object.entries(measurements)) {
      const value = await run();
      if (round >= 0) times.get(name).push(value);
    }
  }
  return new Map([...times].map(([name, values]) => [name, summary(values)]));
}

export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)], min: sorted[0], max: sorted.at(-1) };
}

/** Milliseconds that `work` takes; what `prepare` returns is handed to it and not timed. */
export async function timed(prepare, work) {
  const input = await prepare();
  const start = performance.now();
  await work(input);
  return performance.now() - start;
}
