// plan retry SESSION: runs failed or named steps of an ended session again, with all that needs them.
import { actorOf } from '../actor.js';
import { tellChangedPlan } from '../changed-plan.js';
import type { CliContext } from '../cli-context.js';
import { driveToEnd } from '../drive-to-end.js';
import { openExecutor } from '../open-executor.js';
import { withSession } from '../open-store.js';
import { parseWait } from '../parse-options.js';
import { oneLine } from '../safe-text.js';

export interface RetryOptions {
  from?: string[];
  maxWait?: string;
  json?: boolean;
  quiet?: boolean;
}

export async function retry(context: CliContext, sessionId: string, options: RetryOptions): Promise<number> {
  const maxWaitMs = options.maxWait === undefined ? undefined : parseWait('--max-wait', options.maxWait);
  return withSession(context, sessionId, async (store, session) => {
    if (session.state.status !== 'completed') await tellChangedPlan(context, session);
    const title = `session ${sessionId}: plan ${oneLine(session.start.plan_name, 100)} runs again`;
    return driveToEnd(context, { ...options, title, steps: undefined }, (drive) =>
      openExecutor(context, store).retry(sessionId, {
        ...drive,
        actor: actorOf(context.env),
        ...(options.from === undefined ? {} : { from: options.from }),
        ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
      }),
    );
  });
}
