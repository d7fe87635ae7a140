// Drives a session in the foreground: shows it, answers Ctrl-C, and gives the exit code.
import type { DriveOptions, SessionHandle } from '../executor/session-handle.js';
import type { CliContext } from './cli-context.js';
import { JsonReport, type DriveReport } from './drive-report.js';
import { EXIT, exitCodeOf } from './exit-code.js';
import { oneLine } from './safe-text.js';
import { storeOption } from './store-path.js';
import { TextReport, type TextReportOptions } from './text-report.js';

export interface ShowOptions {
  json?: boolean;
  quiet?: boolean;
}

/**
 * @param start begins the drive with these options; called once, when signals are listened to
 * @returns the exit code; what the drive rejects with is thrown
 */
export async function driveToEnd(
  context: CliContext,
  show: ShowOptions & Pick<TextReportOptions, 'title' | 'steps'>,
  start: (options: Pick<DriveOptions, 'onOutput'>) => SessionHandle,
): Promise<number> {
  const report: DriveReport = show.json === true ? new JsonReport(context) : new TextReport(context, { ...show, quiet: show.quiet === true });
  let removers: Array<() => void> = [];
  try {
    const handle = start(show.json === true || show.quiet === true ? {} : { onOutput: (line) => report.output(line) });
    removers = [...listenToSignals(context, handle, report), ...spreadLastNet(context, handle, report)];
    await showEvents(context, handle, report);
    const result = await handle.result;
    report.end(result);
    return exitCodeOf(result);
  } finally {
    for (const remove of removers) remove();
    report.close();
  }
}

async function showEvents(context: CliContext, handle: SessionHandle, report: DriveReport): Promise<void> {
  try {
    for await (const event of handle) {
      report.event(event);
      await context.out.drained();
    }
  } catch {
    // The drive failed, and its result says why; or only the reading did, and the drive goes on without being shown.
  }
}

// Once: stop, and leave the session resumable. Twice: without grace. Three times: leave, whatever happens to it.
function listenToSignals(context: CliContext, handle: SessionHandle, report: DriveReport): Array<() => void> {
  let asked = 0;
  const answer = (signal: string) => {
    asked += 1;
    if (asked === 1) {
      report.notice(`${signal}: ending the running steps, then saving (again: without their grace)`);
      handle.stop();
    } else if (asked === 2) {
      report.notice(`${signal} again: killing the running steps (again: leave at once)`);
      handle.kill();
    } else {
      report.close();
      context.leave(EXIT.interrupted);
    }
  };
  return (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) => context.onSignal(signal, () => answer(signal)));
}

// What should never happen while a session is driven must not look like a success, nor lose the session.
function spreadLastNet(context: CliContext, handle: SessionHandle, report: DriveReport): Array<() => void> {
  const { session_id: session } = handle;
  let faults = 0;
  return [
    context.onFault((error) => {
      faults += 1;
      report.notice(`error: ${oneLine(error instanceof Error ? `${error.name}: ${error.message}` : String(error))}: nothing caught it, so session ${session} is saved and left`);
      if (context.env['PLAN_DEBUG'] === '1' && error instanceof Error) report.notice(error.stack ?? '');
      if (faults > 1) context.leave(EXIT.failed);
      handle.stop();
    }),
    context.onSuddenEnd((code) => {
      if (code !== EXIT.completed) return code;
      report.notice(`error: something ended this process while session ${session} was driven; how its running steps ended is not known\n  plan resume ${session}${storeOption(context)}`);
      return EXIT.failed;
    }),
  ];
}
