// Runs one command to its end, or ends it.
//
// R1. The command leads its own process group and session; what is left of the group when it ends is ended too.
// R2. An abort is answered within grace + a bound, whoever holds the pipe: TERM, grace, KILL, a last look.
// R3. What was written is read before the command counts as ended, but only for a bounded time.
// R4. Its pid file is written in the tick of the spawn and removed when all its processes are gone.
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { constants } from 'node:os';
import type { LogSummary } from '../core/log-summary.js';
import { endGroup, endProcessTree, isGroupAlive } from './end-process-tree.js';
import type { Masker } from './masker.js';
import { Capture, OutputSink, type Captured, type OnLine } from './output-sink.js';
import { pidFileOf, removePidFile, writePidFile } from './pid-file.js';
import type { PipePool } from './pipe-pool.js';
import { readAll, type Reading } from './read-all.js';
import { checkCwd, spawnChild } from './spawn-child.js';
import { prepareWiring } from './wiring.js';

export interface ProcessRequest {
  argv: readonly string[];
  cwd: string;
  /** The whole environment; its PLAN_ATTEMPT_ID marks the process and its children. */
  env: { [name: string]: string };
  /** What the command reads; without it, stdin is /dev/null. */
  stdin?: string | Uint8Array;
  /** Keep stdout apart from stderr, and its bytes. */
  capture: boolean;
  log_path: string | undefined;
  /** False: a log without a byte is no file. */
  empty_log?: boolean;
  masker: Masker;
  signal: AbortSignal;
  hurry?: AbortSignal | undefined;
  /** Between TERM and KILL, ms. */
  kill_grace: number;
  onLine?: OnLine | undefined;
  /** Real pipes; without it, node's sockets. */
  pool?: PipePool | undefined;
  /** Private folder of the attempt, noted in the pid file. */
  scratch?: string;
  /** Bytes that the log keeps, and that are captured; for tests. */
  log_keep?: number;
  capture_limit?: number;
}

interface Ended {
  log: LogSummary;
  /** The last lines, masked. */
  tail: string;
  captured?: Captured;
  /** Ids of processes that could not be ended. */
  left: number[];
}

export type ProcessEnd = Ended &
  ({ kind: 'exited'; exit_code: number } | { kind: 'signalled'; signal: NodeJS.Signals; exit_code: number } | { kind: 'aborted' });

interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

// How long what a command leaves behind may go on: to finish writing, and between TERM and KILL.
const LINGER_MS = 1000;
const LEFTOVER_GRACE_MS = 500;
// A pipe that was silent for this long, and whose writer has ended, has nothing more to say.
const QUIET_MS = 100;

/**
 * Runs a command. Throws ActionError when it cannot be started (see spawn-child.ts); every other end is a value. A
 * signal that aborted already starts nothing.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessEnd> {
  checkCwd(request.cwd);
  const sink = new OutputSink(request);
  try {
    if (request.signal.aborted) return { kind: 'aborted', left: [], ...sink.end() };
    return await startAndWatch(request, sink);
  } finally {
    sink.end();
  }
}

async function startAndWatch(request: ProcessRequest, sink: OutputSink): Promise<ProcessEnd> {
  const { log_path, signal } = request;
  const wiring = await prepareWiring({ stdin: request.stdin, capture: request.capture, pool: request.pool });
  if (signal.aborted) {
    wiring.discard();
    return { kind: 'aborted', left: [], ...sink.end() };
  }
  let child: ChildProcess;
  try {
    child = await spawnChild({ argv: [...wiring.prefix, ...request.argv], cwd: request.cwd, env: request.env, stdio: wiring.stdio });
  } catch (error) {
    wiring.discard();
    throw error;
  }
  const pid = child.pid as number;
  const exited = exitOf(child);
  const pidFile = log_path === undefined ? undefined : pidFileOf(log_path);
  if (pidFile !== undefined) writePidFile(pidFile, pid, request.env['PLAN_ATTEMPT_ID'] ?? '', request.scratch);

  const connected = wiring.connect(child);
  const capture = request.capture ? new Capture(request.capture_limit) : undefined;
  const reading = readAll(connected.outputs, sink, capture);
  const abort = abortOf(signal);
  let left: number[] = [];
  let exit: Exit | undefined;
  try {
    exit = await Promise.race([exited, abort.happened]);
    if (exit === undefined) left = await endAll(request, pid, exited, reading);
    else left = await settle(request, pid, reading, abort.happened);
  } finally {
    abort.dispose();
    await reading.close();
    connected.release(reading.drained());
    if (pidFile !== undefined && left.length === 0) removePidFile(pidFile);
  }
  const ended: Ended = { left, ...sink.end(), ...(capture === undefined ? {} : { captured: capture.end() }) };
  if (exit === undefined) return { kind: 'aborted', ...ended };
  if (exit.signal !== null) return { kind: 'signalled', signal: exit.signal, exit_code: 128 + constants.signals[exit.signal], ...ended };
  return { kind: 'exited', exit_code: exit.code ?? 1, ...ended };
}

// The abort path: everything that carries the tag, also outside the group.
async function endAll(request: ProcessRequest, pid: number, exited: Promise<Exit>, reading: Reading): Promise<number[]> {
  const tag = request.env['PLAN_ATTEMPT_ID'];
  const root = tag === undefined || tag === '' ? { pid } : { pid, hasTag: (other: string) => other === tag };
  const left = await endProcessTree(root, { graceMs: request.kill_grace, hurry: request.hurry });
  if (!left.includes(pid)) await Promise.race([exited, delay(LINGER_MS, undefined, { ref: false })]);
  await reading.quiet(QUIET_MS, QUIET_MS);
  return left;
}

// The normal path: reads the rest, and ends what the command left in its group.
async function settle(request: ProcessRequest, pid: number, reading: Reading, aborted: Promise<undefined>): Promise<number[]> {
  if (!isGroupAlive(pid)) {
    await reading.quiet(QUIET_MS, LINGER_MS);
    return [];
  }
  let hurried = false;
  void aborted.then(() => (hurried = true));
  const end = performance.now() + LINGER_MS;
  while (!hurried && performance.now() < end && isGroupAlive(pid)) await delay(20);
  const left = await endGroup(pid, { graceMs: hurried ? 0 : Math.min(request.kill_grace, LEFTOVER_GRACE_MS), hurry: request.hurry });
  await reading.quiet(QUIET_MS, LINGER_MS);
  return left;
}

function exitOf(child: ChildProcess): Promise<Exit> {
  // A later error (a signal that could not be sent) says nothing that the exit does not.
  child.on('error', () => undefined);
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}

function abortOf(signal: AbortSignal): { happened: Promise<undefined>; dispose(): void } {
  let listener = () => undefined as void;
  const happened = new Promise<undefined>((resolve) => {
    listener = () => resolve(undefined);
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  });
  return { happened, dispose: () => signal.removeEventListener('abort', listener) };
}
