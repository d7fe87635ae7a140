// One case of a public bug report: its own folder, bash with the command `plan`, and no process left at its end.
// Nothing is shared between cases, so that they may run at the same time (`test.concurrent`).
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, type TestContext } from 'vitest';

// Left out, since they need what later issues bring: B05 and B35 (plans inside plans), B41, B43 and B45 (approvals);
// of B15 the part where a gate is an approval, of B30 the part with plans inside plans.

const ROOT = resolve(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/plan.js');
// `w` waits for a file.
const PRELUDE = 'w() { until [ -e "$1" ]; do sleep 0.05; done; }\n';

export interface ShownStep {
  id: string;
  status: string;
  generation: number;
  attempt: number;
  failures: number;
  interruptions: number;
  result?: unknown;
  outputs?: { [name: string]: unknown };
  error?: { class: string; code: string; message: string; exit_code?: number; signal?: string; not_retried?: string };
  skip_reason?: { kind: string; by?: string };
  log?: { bytes: number; kept: number; truncated: boolean; binary: boolean };
}

export interface Shown {
  status: string;
  attempts_used: number;
  counts: { [status: string]: number };
  error?: { step_id?: string; message: string };
  steps: ShownStep[];
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** How long it took. */
  seconds: number;
}

/** The text of a plan: the head and what follows. */
export function planText(name: string, body: string): string {
  return `plan: 1\nname: ${name}\n${body}`;
}

export class Case {
  readonly #root = mkdtempSync(join(tmpdir(), 'planwright-case-'));
  readonly dir = join(this.#root, 'work');
  readonly #groups = new Set<number>();

  /** @param plan the text of `p.yaml`, head included */
  constructor({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, plan?: string) {
    mkdirSync(this.dir);
    mkdirSync(join(this.#root, 'bin'));
    // By exec it becomes the node process itself, so that `$!` is its process id.
    writeFileSync(join(this.#root, 'bin/plan'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, { mode: 0o755 });
    if (plan !== undefined) this.write('p.yaml', plan);
    onTestFinished(async () => {
      for (const group of this.#groups) signalGroup(group);
      const left = await this.#processesLeft();
      rmSync(this.#root, { recursive: true, force: true });
      expect(left, 'processes that the case left behind').toEqual([]);
    });
  }

  write(name: string, content: string): void {
    writeFileSync(join(this.dir, name), content);
  }

  read(name: string): string {
    return existsSync(join(this.dir, name)) ? readFileSync(join(this.dir, name), 'utf8') : '';
  }

  lines(name: string): string[] {
    return this.read(name).split('\n').filter((line) => line !== '');
  }

  exists(name: string): boolean {
    return existsSync(join(this.dir, name));
  }

  /** Every byte of every file of the store, logs included. */
  storeBytes(): Buffer {
    const files = readdirSync(join(this.dir, '.plan'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
  }

  /** Runs a bash script in the folder. */
  bash(script: string, env: { [name: string]: string } = {}): Promise<Ended> {
    return this.#run('bash', ['-c', `${PRELUDE}${script}`], this.dir, { PATH: `${join(this.#root, 'bin')}:${process.env['PATH'] ?? ''}`, ...env });
  }

  plan(args: string[], env: { [name: string]: string } = {}): Promise<Ended> {
    return this.#run(process.execPath, [BIN, ...args], this.dir, env);
  }

  /** Runs a module that may import "planwright"; its working folder is the case's. */
  async node(program: string): Promise<Ended> {
    // Bare names are looked up from where the module is: inside the package.
    return this.#run(process.execPath, ['--input-type=module', '-e', `process.chdir(${JSON.stringify(this.dir)});\n${program}`], ROOT, {});
  }

  async show(session = 'S'): Promise<Shown> {
    const { stdout, stderr } = await this.plan(['show', session, '--json']);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as Shown;
  }

  /** One step of a session. */
  async step(id: string, session = 'S'): Promise<ShownStep> {
    const step = (await this.show(session)).steps.find((one) => one.id === id);
    if (step === undefined) throw new Error(`no step ${id}`);
    return step;
  }

  /** Waits until something holds, looking every 50 ms. */
  async until(what: string, holds: () => boolean | Promise<boolean>, seconds = 30): Promise<void> {
    for (const end = Date.now() + seconds * 1000; !(await holds()); ) {
      if (Date.now() > end) throw new Error(`waited ${seconds}s in vain for ${what}`);
      await new Promise((done) => setTimeout(done, 50));
    }
  }

  async #run(command: string, args: string[], cwd: string, env: { [name: string]: string }): Promise<Ended> {
    const started = Date.now();
    const child = spawn(command, args, { cwd, env: { ...cleanEnv(), ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    if (child.pid !== undefined) this.#groups.add(child.pid);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const code = await new Promise<number | null>((done) => child.on('close', done));
    return { code, stdout, stderr, seconds: (Date.now() - started) / 1000 };
  }

  // Command lines of the processes that work in the folder; only where /proc tells. What is dying gets a moment.
  async #processesLeft(): Promise<string[]> {
    let left: string[] = [];
    for (let look = 0; look < 20; look += 1) {
      left = processesIn(this.dir);
      if (left.length === 0) break;
      await new Promise((done) => setTimeout(done, 100));
    }
    return left;
  }
}

function processesIn(folder: string): string[] {
  if (!existsSync('/proc/self/cwd')) return [];
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return [];
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
    } catch {
      return []; // ended meanwhile, or of another user
    }
  });
}

function signalGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // it has ended
  }
}

// What a developer's own shell sets must not change what a case sees.
function cleanEnv(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of ['NODE_OPTIONS', 'PLAN_HOME', 'NO_COLOR', 'CI', 'TOKEN', 'WINDOW']) delete env[name];
  return env;
}
