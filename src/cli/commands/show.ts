// plan show SESSION [STEP]: how a session, or one step of it, stands.
import { UsageError } from '../../core/error.js';
import { nearest } from '../../core/suggest.js';
import type { CliContext } from '../cli-context.js';
import { EXIT } from '../exit-code.js';
import { withSession } from '../open-store.js';
import { createPaint } from '../paint.js';
import { jsonLine } from '../safe-text.js';
import { sessionText, stepText } from '../session-text.js';
import { viewSession } from '../session-view.js';
import { storeOption } from '../store-path.js';

export async function show(context: CliContext, sessionId: string, stepId: string | undefined, options: { json?: boolean }): Promise<number> {
  return withSession(context, sessionId, async (store, session) => {
    const now = context.clock.now();
    const view = await viewSession(store, session, now, { storeOption: storeOption(context), ...(stepId === undefined ? {} : { whole: [stepId] }) });
    const paint = createPaint(context.out.colour);
    const step = stepId === undefined ? undefined : view.steps.find(({ id }) => id === stepId);
    if (stepId !== undefined && step === undefined) throw unknownStep(sessionId, stepId, view.steps.map(({ id }) => id));
    if (options.json === true) context.out.bytes(`${jsonLine(step ?? view)}\n`);
    else for (const line of step === undefined ? sessionText(view, now, paint, context.out.tty ? context.out.columns : undefined) : stepText(view, step, now, paint)) context.out.line(line);
    return EXIT.completed;
  });
}

/** UsageError `unknown_step`, with the step that was probably meant. */
export function unknownStep(sessionId: string, stepId: string, known: readonly string[]): UsageError {
  const meant = nearest(stepId, known);
  const shown = known.length > 20 ? `${known.slice(0, 20).join(', ')}, …` : known.join(', ');
  return new UsageError('unknown_step', `session ${sessionId} has no step "${stepId}"; ${meant === undefined ? `its steps: ${shown}` : `did you mean "${meant}"?`}`);
}
