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
import { endGroup, endProcessTree, groupMembers } from './end-process-tree.js';
import { EscapeWatch, holdersOf, type KnownProcess } from './escapees.js';
import type { Masker } from './masker.js';
import { patiently } from './open-files.js';
import { Capture, OutputSink, type Captured, type OnLine } from './output-sink.js';
import { pidFileOf, removePidFile, writePidFile } from './pid-file.js';
import type { PipePool } from './pipe-pool.js';
import { readProcess } from './process-table.js';
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

// How long what a command leaves behind may go on: to finish its work at most, with nothing to do, and between TERM and
// KILL.
const LINGER_MS = 1000;
const REST_MS = 400;
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
  const { signal } = request;
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
  const leader: KnownProcess = { pid, start: startOf(pid) };
  const note = pidNote(request, leader);
  const escapes = new EscapeWatch(leader, () => note.write(escapes.living()));
  note.write([]);

  const connected = wiring.connect(child);
  const capture = request.capture ? new Capture(request.capture_limit) : undefined;
  const reading = readAll(connected.outputs, sink, capture);
  const attempt: Attempt = { request, leader, reading, escapes, pipes: connected.pipes };
  const abort = abortOf(signal);
  let left: number[] = [];
  let exit: Exit | undefined;
  try {
    exit = await Promise.race([exited, abort.happened]);
    if (exit === undefined) left = await endAll(attempt, exited);
    else left = await settle(attempt, abort.happened);
  } finally {
    abort.dispose();
    escapes.stop();
    await reading.close();
    connected.release(reading.drained());
    // The note stays while it names somebody: whoever ends the session's processes goes by it.
    if (left.length === 0 && escapes.living().length === 0) note.remove();
  }
  const ended: Ended = { left, ...sink.end(), ...(capture === undefined ? {} : { captured: capture.end() }) };
  if (exit === undefined) return { kind: 'aborted', ...ended };
  if (exit.signal !== null) return { kind: 'signalled', signal: exit.signal, exit_code: 128 + constants.signals[exit.signal], ...ended };
  return { kind: 'exited', exit_code: exit.code ?? 1, ...ended };
}

// '' where nobody can look; it is then known by its number alone, and by its mark.
function startOf(pid: number): string {
  try {
    return readProcess(pid)?.start ?? '';
  } catch {
    return '';
  }
}

function pidNote({ log_path: log, env, scratch }: ProcessRequest, { pid, start }: KnownProcess): { write(escaped: KnownProcess[]): void; remove(): void } {
  if (log === undefined) return { write: () => undefined, remove: () => undefined };
  const path = pidFileOf(log);
  const record = { pid, process_start: start, tag: env['PLAN_ATTEMPT_ID'] ?? '', ...(scratch === undefined ? {} : { scratch }) };
  return { write: (escaped) => writePidFile(path, { ...record, ...(escaped.length === 0 ? {} : { escaped }) }), remove: () => removePidFile(path) };
}

// What the ends of one attempt work with.
interface Attempt {
  request: ProcessRequest;
  leader: KnownProcess;
  reading: Reading;
  escapes: EscapeWatch;
  pipes: ReadonlySet<string>;
}

// The abort path: everything that carries the tag or was seen to escape, also outside the group.
async function endAll({ request, leader, reading, escapes, pipes }: Attempt, exited: Promise<Exit>): Promise<number[]> {
  const tag = request.env['PLAN_ATTEMPT_ID'];
  const options = { graceMs: request.kill_grace, hurry: request.hurry };
  escapes.look();
  escapes.stop();
  const root = { ...leader, known: escapes.living(), ...(tag === undefined || tag === '' ? {} : { hasTag: (other: string) => other === tag }) };
  const left = await endProcessTree(root, options);
  if (!left.includes(leader.pid)) await Promise.race([exited, delay(LINGER_MS, undefined, { ref: false })]);
  await reading.quiet(QUIET_MS, QUIET_MS);
  const holders = reading.drained() ? [] : (await patiently(() => holdersOf(pipes, leader))).filter(({ pid }) => !left.includes(pid));
  return holders.length === 0 ? left : [...left, ...(await endProcessTree({ known: holders }, options))];
}

// The normal path: reads the rest, and ends what the command left in its group.
async function settle({ request, leader, reading, escapes, pipes }: Attempt, aborted: Promise<undefined>): Promise<number[]> {
  escapes.look();
  let left: number[] = [];
  if ((await patiently(() => groupMembers(leader))).length > 0) {
    let hurried = false;
    void aborted.then(() => (hurried = true));
    await linger(leader, reading, () => hurried);
    left = await endGroup(leader, { graceMs: hurried ? 0 : Math.min(request.kill_grace, LEFTOVER_GRACE_MS), hurry: request.hurry });
  }
  await reading.quiet(QUIET_MS, LINGER_MS);
  if (!reading.drained()) escapes.add(await patiently(() => holdersOf(pipes, leader)));
  return left;
}

// Until the group is gone, or has come to rest: no output, no processor time, nothing on its way from or to a disk.
async function linger(leader: KnownProcess, reading: Reading, hurried: () => boolean): Promise<void> {
  const end = performance.now() + LINGER_MS;
  let before = '';
  for (let restedAt = performance.now(); !hurried() && performance.now() < end; await delay(20)) {
    const members = await patiently(() => groupMembers(leader));
    if (members.length === 0) return;
    const now = members.map(({ pid, cpu }) => `${pid} ${cpu ?? performance.now()}`).join();
    const isBusy = now !== before || reading.silence() < 40 || members.some(({ state }) => state === 'R' || state === 'D');
    before = now;
    if (isBusy) restedAt = performance.now();
    else if (performance.now() - restedAt >= REST_MS) return;
  }
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
