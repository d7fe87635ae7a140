// Runs real commands in a private folder, and counts what they leave behind.
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterEach } from 'vitest';
import { createMasker } from '../../src/process/masker.js';
import { createPipePool } from '../../src/process/pipe-pool.js';
import { hasEnded, listProcesses } from '../../src/process/process-table.js';
import { processTag, type DriveMark } from '../../src/process/process-tag.js';
import { runProcess, type ProcessEnd, type ProcessRequest } from '../../src/process/run-process.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plan-test-')));
  folders.push(folder);
  return folder;
}

export const pool = createPipePool();
export const newDrive = (session_id = 'S', epoch = 1): DriveMark => ({ store: { id: randomBytes(6).toString('hex'), instance: '1' }, session_id, epoch });
export const tagOf = (drive: DriveMark, step_id = 'step') => processTag(drive, { step_id, generation: 1, attempt: 1 });
export const newTag = () => tagOf(newDrive());

export interface Run {
  end: ProcessEnd;
  log: string;
  logPath: string;
  lines: string[];
  tag: string;
  ms: number;
}

/** Runs a bash script (or an argv) to its end. */
export async function run(command: string | string[], options: Partial<ProcessRequest> & { secrets?: string[]; tag?: string } = {}): Promise<Run> {
  const { secrets, tag = newTag(), ...request } = options;
  const cwd = request.cwd ?? tempFolder();
  const logPath = request.log_path ?? join(tempFolder(), 'step.log');
  const lines: string[] = [];
  const began = performance.now();
  const end = await runProcess({
    argv: typeof command === 'string' ? ['bash', '-c', command] : command,
    capture: false,
    masker: createMasker(secrets ?? []),
    signal: new AbortController().signal,
    kill_grace: 300,
    onLine: (stream, line) => lines.push(`${stream}: ${line}`),
    pool,
    ...request,
    cwd,
    log_path: logPath,
    env: { PATH: process.env['PATH'] ?? '', PLAN_ATTEMPT_ID: tag, ...request.env },
  });
  return { end, log: readFileSync(logPath, 'latin1'), logPath, lines, tag, ms: performance.now() - began };
}

/** Ids of living processes that carry the tag. */
export function alive(tag: string): number[] {
  return listProcesses({ tags: true }).filter((row) => row.tag === tag && !hasEnded(row)).map((row) => row.pid);
}

/** Aborts once the condition holds. */
export function abortWhen(condition: () => boolean, reason: unknown = { kind: 'interrupted' }): AbortController {
  const controller = new AbortController();
  const timer = setInterval(() => {
    if (!condition()) return;
    clearInterval(timer);
    controller.abort(reason);
  }, 5);
  return controller;
}

export const openFiles = () => readdirSync('/proc/self/fd').length;
