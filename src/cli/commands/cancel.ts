// plan cancel SESSION: ends a session, wherever it runs or waits.
import { actorOf } from '../actor.js';
import type { CliContext } from '../cli-context.js';
import { holderText } from '../event-text.js';
import { EXIT } from '../exit-code.js';
import { openExecutor } from '../open-executor.js';
import { withSession } from '../open-store.js';
import { jsonLine } from '../safe-text.js';

export interface CancelOptions {
  reason?: string;
  json?: boolean;
}

/** Exit code 0 when the session is ended, or its driver was told to end it. */
export async function cancel(context: CliContext, sessionId: string, options: CancelOptions): Promise<number> {
  return withSession(context, sessionId, async (store) => {
    const stop = new AbortController();
    const removers = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) =>
      context.onSignal(signal, () => (stop.signal.aborted ? context.leave(EXIT.interrupted) : stop.abort())),
    );
    try {
      const result = await openExecutor(context, store).cancel(sessionId, {
        actor: actorOf(context.env),
        reason: options.reason ?? 'asked on the command line',
        signal: stop.signal,
      });
      if (options.json === true) context.out.bytes(`${jsonLine({ session_id: sessionId, ...result })}\n`);
      else if (result.outcome === 'requested') {
        const lease = (await store.getSession(sessionId))?.lease;
        context.out.line(`session ${sessionId}: cancel requested${lease === undefined ? '' : `; ${holderText(lease.holder)} drives it and ends it`}`);
      } else context.out.line(`session ${sessionId}: ${result.status}`);
      return stop.signal.aborted && result.status !== 'cancelled' ? EXIT.interrupted : EXIT.completed;
    } finally {
      for (const remove of removers) remove();
    }
  });
}
