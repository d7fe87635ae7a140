// plan audit SESSION: rebuilds a session from its events and compares with what the store keeps.
import { storedPlan } from '../../executor/stored-plan.js';
import { auditSession } from '../../store/audit.js';
import type { CliContext } from '../cli-context.js';
import { EXIT } from '../exit-code.js';
import { withSession } from '../open-store.js';
import { createPaint } from '../paint.js';
import { jsonLine, oneLine } from '../safe-text.js';
import { plural } from '../words.js';

/** Exit code 1 when they differ; 7 when a row of the session is damaged. */
export async function audit(context: CliContext, sessionId: string, options: { json?: boolean }): Promise<number> {
  return withSession(context, sessionId, async (store, session) => {
    storedPlan(store, session);
    const report = await auditSession(store, sessionId);
    const { out } = context;
    const paint = createPaint(out.colour);
    if (options.json === true) out.bytes(`${jsonLine(report)}\n`);
    else {
      for (const { what, stored, rebuilt } of report.differences) out.line(`${what}\n  stored:      ${oneLine(stored, 300)}\n  from events: ${oneLine(rebuilt, 300)}`);
      const looked = `${plural(report.events, 'event')}, ${plural(report.steps, 'step')}, ${plural(report.checkpoints, 'checkpoint')}`;
      out.line(report.ok ? `session ${sessionId}: ${paint.good('ok')}, the events give the stored state (${looked})` : `session ${sessionId}: ${paint.bad(plural(report.differences.length, 'difference'))} (${looked})`);
    }
    return report.ok ? EXIT.completed : EXIT.failed;
  });
}
