// plan events SESSION: what happened, in order.
import { isTerminalSession } from '../../core/session-state.js';
import type { Store } from '../../store/store.js';
import type { CliContext } from '../cli-context.js';
import { eventLine } from '../event-text.js';
import { EXIT } from '../exit-code.js';
import { withSession } from '../open-store.js';
import { parseCount } from '../parse-options.js';
import { jsonLine } from '../safe-text.js';

export interface EventsOptions {
  json?: boolean;
  after?: string;
  follow?: boolean;
}

const PAGE = 1000;
const POLL_MS = 250;

/** With `follow` it goes on until the session ends. */
export async function events(context: CliContext, sessionId: string, options: EventsOptions): Promise<number> {
  let after = options.after === undefined ? 0 : parseCount('--after', options.after, 0);
  return withSession(context, sessionId, async (store) => {
    for (;;) {
      // Asked first: what is written between the two questions is read before the loop ends.
      const over = options.follow !== true || (await hasEnded(store, sessionId));
      after = await printFrom(context, store, sessionId, after, options.json === true);
      if (over || context.out.gone) return EXIT.completed;
      await context.clock.sleep(POLL_MS);
    }
  });
}

async function hasEnded(store: Store, sessionId: string): Promise<boolean> {
  const session = await store.getSession(sessionId);
  return session === undefined || isTerminalSession(session.state.status);
}

async function printFrom(context: CliContext, store: Store, sessionId: string, after: number, json: boolean): Promise<number> {
  let last = after;
  for (;;) {
    const page = await store.readEvents(sessionId, { after: last, limit: PAGE });
    const now = context.clock.now();
    for (const event of page) {
      if (json) context.out.bytes(`${jsonLine(event)}\n`);
      else context.out.line(eventLine(event, now));
      last = event.seq;
    }
    await context.out.drained();
    if (page.length < PAGE || context.out.gone) return last;
  }
}
