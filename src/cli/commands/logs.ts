// plan logs SESSION [STEP]: what steps wrote, byte by byte.
import { constants, createReadStream, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { StoreError, UsageError } from '../../core/error.js';
import { storedPlan } from '../../executor/stored-plan.js';
import type { CliContext } from '../cli-context.js';
import { EXIT } from '../exit-code.js';
import { logFilesIn, type LogFile } from '../log-files.js';
import { withSession } from '../open-store.js';
import { createPaint } from '../paint.js';
import { parseCount } from '../parse-options.js';
import { safeText } from '../safe-text.js';
import { unknownStep } from './show.js';

export async function logs(context: CliContext, sessionId: string, stepId: string | undefined, options: { attempt?: string }): Promise<number> {
  const attempt = options.attempt === undefined ? undefined : parseCount('--attempt', options.attempt, 1);
  if (attempt !== undefined && stepId === undefined) throw new UsageError('bad_option', '--attempt expects a step: plan logs SESSION STEP --attempt N');
  return withSession(context, sessionId, async (store, session) => {
    const ids = storedPlan(store, session).steps.map((step) => step.id);
    if (stepId !== undefined && !ids.includes(stepId)) throw unknownStep(sessionId, stepId, ids);
    const files = store.logDir === undefined ? [] : logFilesIn(`${store.logDir}/${sessionId}`);
    if (stepId === undefined) await printAll(context, sessionId, ids, files);
    else await printOne(context, stepId, files.filter((file) => file.step_id === stepId), attempt);
    return EXIT.completed;
  });
}

async function printAll(context: CliContext, sessionId: string, ids: readonly string[], files: readonly LogFile[]): Promise<void> {
  const { out } = context;
  const paint = createPaint(out.colour);
  const byStep = new Map<string, LogFile[]>();
  for (const file of files) byStep.set(file.step_id, [...(byStep.get(file.step_id) ?? []), file]);
  if (files.length === 0) context.err.line(`session ${sessionId} has no logs: no step of it wrote anything yet`);
  let first = true;
  for (const id of ids) {
    for (const file of byStep.get(id) ?? []) {
      if (statSync(file.path, { throwIfNoEntry: false })?.size === 0) continue;
      const which = `${file.attempt > 1 ? `, attempt ${file.attempt}` : ''}${file.generation > 1 ? `, generation ${file.generation}` : ''}`;
      out.line(`${first ? '' : '\n'}${paint.bold(`==> ${id}${which} <==`)}`);
      first = false;
      await copy(context, file.path);
    }
  }
}

async function printOne(context: CliContext, stepId: string, files: readonly LogFile[], attempt: number | undefined): Promise<void> {
  if (files.length === 0) return context.err.line(`step ${stepId} has no log: it did not run, or is of a kind that writes none`);
  const file = attempt === undefined ? files.at(-1) : files.findLast((one) => one.attempt === attempt);
  if (file === undefined) {
    throw new UsageError('unknown_attempt', `step ${stepId} has no log of attempt ${attempt}; it has ${files.map((one) => one.attempt).join(', ')}`);
  }
  await copy(context, file.path);
}

// As it is, but on a terminal without what would command it.
async function copy({ out }: CliContext, path: string): Promise<void> {
  const decoder = out.tty ? new TextDecoder() : undefined;
  // Told as what it is: the log was deleted meanwhile, or belongs to another user.
  const unreadable = (error: Error) => new StoreError('io', `the log ${path} cannot be read (${error.message}); plan doctor checks the place of the logs`);
  await access(path, constants.R_OK).catch((error: Error) => Promise.reject(unreadable(error)));
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    out.bytes(decoder === undefined ? chunk : safeText(decoder.decode(chunk, { stream: true }), out.colour));
    await out.drained();
  }
}
