// plan doctor: whether this machine and this store are fit to run plans, and what to do where they are not.
import type { CliContext } from '../cli-context.js';
import { checkMachine, type Check } from '../doctor/check-machine.js';
import { checkScratch } from '../doctor/check-scratch.js';
import { checkSessions } from '../doctor/check-sessions.js';
import { checkStore } from '../doctor/check-store.js';
import { EXIT } from '../exit-code.js';
import { createPaint } from '../paint.js';
import { jsonLine, oneLine } from '../safe-text.js';
import { storePlace } from '../store-path.js';

/** Exit code 1 when something must be mended, 7 when that is the store; warnings alone are 0. */
export async function doctor(context: CliContext, options: { json?: boolean }): Promise<number> {
  const place = storePlace(context);
  const machine = [...(await checkMachine(context.env)), checkScratch()];
  const store = await checkStore(place);
  const usable = store.every((check) => check.status !== 'error');
  const checks = [...machine, ...store, ...(usable ? await checkSessions(context, place.path) : [])];
  if (options.json === true) context.out.bytes(`${jsonLine({ ok: checks.every(({ status }) => status !== 'error'), store: place.path, checks })}\n`);
  else print(context, checks);
  if (!usable) return EXIT.store;
  return checks.some(({ status }) => status === 'error') ? EXIT.failed : EXIT.completed;
}

function print({ out }: CliContext, checks: readonly Check[]): void {
  const paint = createPaint(out.colour);
  const painters = { ok: paint.good, warning: paint.notice, error: paint.bad };
  for (const { name, status, message, advice } of checks) {
    out.line(`${painters[status](status.padEnd(7))}  ${name}: ${oneLine(message, 4000)}`);
    if (advice !== undefined) out.line(`         ${oneLine(advice, 500)}`);
  }
}
