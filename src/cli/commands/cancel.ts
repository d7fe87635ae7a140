// plan cancel SESSION: ends a session, wherever it runs or waits.
import { lifeOf } from '../../executor/drive-holder.js';
import type { CancelResult } from '../../executor/session-handle.js';
import type { Lease } from '../../store/store.js';
import { actorOf } from '../actor.js';
import type { CliContext } from '../cli-context.js';
import { holderText } from '../event-text.js';
import { EXIT } from '../exit-code.js';
import { openExecutor } from '../open-executor.js';
import { withSession } from '../open-store.js';
import { jsonLine } from '../safe-text.js';
import { storeOption } from '../store-path.js';

export interface CancelOptions {
  reason?: string;
  json?: boolean;
}

/** Exit code 0 when the session is ended, or its driver was told to end it. */
export async function cancel(context: CliContext, sessionId: string, options: CancelOptions): Promise<number> {
  return withSession(context, sessionId, async (store) => {
    const stop = new AbortController();
    const again = `plan cancel ${sessionId}${storeOption(context)}`;
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
      else context.out.line(`session ${sessionId}: ${result.outcome === 'ended' ? endedText(result) : requestedText(result, (await store.getSession(sessionId))?.lease, again)}`);
      return stop.signal.aborted && result.status !== 'cancelled' ? EXIT.interrupted : EXIT.completed;
    } finally {
      for (const remove of removers) remove();
    }
  });
}

function endedText({ status, ends_finally: finallyToo }: CancelResult): string {
  return `${status}${finallyToo === true ? '; its `finally` steps were ended too' : ''}`;
}

// Says no more than is known: who has to end it, and what to do should that not happen.
function requestedText({ answered, ends_finally: finallyToo }: CancelResult, lease: Lease | undefined, again: string): string {
  if (lease === undefined) return 'cancel requested';
  const driver = holderText(lease.holder);
  if (lifeOf(lease.holder) === 'stopped') {
    return `cancel requested, but ${driver} drives it and is stopped; let it go on with: kill -CONT ${lease.holder.pid}, or end that process and then: ${again}`;
  }
  if (finallyToo === true) return `cancel requested again; ${driver} ends its \`finally\` steps too`;
  if (answered === true) return `cancel requested; ${driver} is ending it (again, while \`finally\` steps run, ends those too: ${again})`;
  return `cancel requested; ${driver} drives it and has not answered yet; if it leaves without ending the session: ${again}`;
}
