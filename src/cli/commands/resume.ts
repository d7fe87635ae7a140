// plan resume SESSION: goes on with a session that another process left.
import { tellChangedPlan } from '../changed-plan.js';
import type { CliContext } from '../cli-context.js';
import { driveToEnd } from '../drive-to-end.js';
import { EXIT } from '../exit-code.js';
import { openExecutor } from '../open-executor.js';
import { withSession } from '../open-store.js';
import { parseBudget, parseWait } from '../parse-options.js';
import { oneLine } from '../safe-text.js';
import { dateTime } from '../words.js';

export interface ResumeOptions {
  addBudget?: string[];
  maxWait?: string;
  json?: boolean;
  quiet?: boolean;
}

export async function resume(context: CliContext, sessionId: string, options: ResumeOptions): Promise<number> {
  const addBudget = options.addBudget === undefined ? undefined : parseBudget(options.addBudget);
  const maxWaitMs = options.maxWait === undefined ? undefined : parseWait('--max-wait', options.maxWait);
  return withSession(context, sessionId, async (store, session) => {
    if (session.state.status === 'completed' && options.json !== true) {
      context.out.line(`session ${sessionId}: completed already, at ${dateTime(session.state.ended_at ?? session.updated_at)}; there is nothing to do`);
      return EXIT.completed;
    }
    await tellChangedPlan(context, session);
    const title = `session ${sessionId}: plan ${oneLine(session.start.plan_name, 100)} goes on`;
    return driveToEnd(context, { ...options, title, steps: undefined }, (drive) =>
      openExecutor(context, store).resume(sessionId, {
        ...drive,
        ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
        ...(addBudget === undefined ? {} : { addBudget }),
      }),
    );
  });
}
