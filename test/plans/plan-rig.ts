// Drives bin/plan.js as a person would: another process, a store of its own, programs that leave a trace when they begin.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { auditSession, type PlanEvent } from '../../src/index.js';
import { openSqliteStore } from '../../src/store/sqlite/index.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIN = join(ROOT, 'bin', 'plan.js');
const SLOW_S = 0.15; // how long a step's program takes at least, so that a kill can come in the middle

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Shown {
  status: string;
  outputs?: { [name: string]: unknown };
}

export class PlanRig {
  readonly dir = mkdtempSync(join(tmpdir(), 'planwright-plans-'));
  /** For what plans write. */
  readonly out = join(this.dir, 'out');
  readonly #bin = join(this.dir, 'bin');
  readonly #begun = join(this.dir, 'begun');

  constructor() {
    mkdirSync(this.#bin);
    writeFileSync(this.#begun, '');
    for (const program of ['node', 'bash', 'df', 'uptime']) {
      const real = program === 'node' ? process.execPath : find(program);
      if (real === undefined) continue;
      const lines = [
        '#!/bin/sh',
        `printf '%s\\n' "$PLAN_STEP_ID" >>'${this.#begun}'`,
        // A child that outlives the program when the plan was killed, so that somebody has to end it.
        'sleep 300 </dev/null >/dev/null 2>&1 &',
        'child=$!',
        `sleep ${SLOW_S}`,
        `'${real}' "$@" <&0`,
        'code=$?',
        'if kill -0 "$PPID" 2>/dev/null; then kill "$child"; wait "$child" 2>/dev/null; fi',
        'exit "$code"',
      ];
      writeFileSync(join(this.#bin, program), `${lines.join('\n')}\n`, { mode: 0o755 });
    }
  }

  emptyOut(): void {
    rmSync(this.out, { recursive: true, force: true });
    mkdirSync(this.out);
  }

  /** How often a program of this step really began, by step. */
  begun(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const step of readFileSync(this.#begun, 'utf8').split('\n')) if (step !== '') counts.set(step, (counts.get(step) ?? 0) + 1);
    return counts;
  }

  forgetBegun(): void {
    writeFileSync(this.#begun, '');
  }

  /** Runs the command to its end. `onLine` gets its lines of stdout as they come, and may kill it. */
  plan(args: readonly string[], options: { cwd?: string; onLine?: (line: string, kill: () => void) => void } = {}): Promise<Ended> {
    const cwd = options.cwd ?? this.dir;
    const env = { ...process.env, PATH: `${this.#bin}:${process.env['PATH'] ?? ''}`, PLAN_HOME: join(this.dir, 'store'), PWD: cwd };
    const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    createInterface({ input: child.stdout }).on('line', (line) => {
      stdout += `${line}\n`;
      options.onLine?.(line, () => child.kill('SIGKILL'));
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
  }

  async json(args: readonly string[]): Promise<unknown> {
    const ended = await this.plan([...args, '--json']);
    if (ended.code !== 0) throw new Error(`plan ${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`);
    return JSON.parse(ended.stdout) as unknown;
  }

  async show(session: string): Promise<Shown> {
    return (await this.json(['show', session])) as Shown;
  }

  async events(session: string): Promise<PlanEvent[]> {
    const ended = await this.plan(['events', session, '--json']);
    if (ended.code !== 0) throw new Error(`plan events ended with ${ended.code}: ${ended.stderr}`);
    return eventsOf(ended.stdout);
  }

  /** What the store keeps and its events do not give, or the other way round; empty when all is well. */
  async auditDifferences(session: string): Promise<unknown[]> {
    const store = await openSqliteStore({ path: join(this.dir, 'store', 'plan.db') });
    try {
      return (await auditSession(store, session)).differences;
    } finally {
      await store.close();
    }
  }

  /** Command lines of processes that steps of this rig began and that still live (Linux; elsewhere none are found). */
  leftProcesses(): string[] {
    if (!existsSync('/proc/self/environ')) return [];
    return readdirSync('/proc').flatMap((pid) => {
      if (!/^\d+$/.test(pid)) return [];
      try {
        const environ = readFileSync(`/proc/${pid}/environ`, 'utf8');
        return environ.includes('PLAN_ATTEMPT_ID=') && environ.includes(this.#bin) ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`] : [];
      } catch {
        return []; // gone meanwhile
      }
    });
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** The events among the lines of `--json` output. */
export function eventsOf(stdout: string): PlanEvent[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PlanEvent)
    .filter((event) => typeof event.seq === 'number');
}

/** A generator of numbers in [0, 1) that gives the same ones for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function find(program: string): string | undefined {
  try {
    return execFileSync('/bin/sh', ['-c', `command -v ${program}`]).toString().trim() || undefined;
  } catch {
    return undefined;
  }
}
