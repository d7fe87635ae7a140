// The binary, as a user starts it: its own process, its own folder, its own store. Nothing is shared between folders, so
// that tests may run at the same time (`test.concurrent`, which must hand over its own `onTestFinished`).
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished, type TestContext } from 'vitest';
import { hasEnded, readProcess } from '../../src/process/process-table.js';

const ROOT = resolve(import.meta.dirname, '../..');
const BIN = join(ROOT, 'bin/plan.js');
// `w` waits for a file.
const PRELUDE = 'w() { until [ -e "$1" ]; do sleep 0.05; done; }\n';

type Env = { [name: string]: string };

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** How long it took. */
  seconds: number;
}

/** A folder with a plan file `p.yaml`, and commands run in it. What they leave running of their own groups is ended. */
export class PlanFolder {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), 'planwright-')));
  readonly dir = join(this.#root, 'work');
  readonly #groups = new Set<number>();

  /** @param plan the text of `p.yaml`, head included */
  constructor(plan?: string, context: Pick<TestContext, 'onTestFinished'> = { onTestFinished }) {
    mkdirSync(this.dir);
    mkdirSync(join(this.#root, 'bin'));
    // By exec it becomes the node process itself, so that `$!` is its process id.
    writeFileSync(join(this.#root, 'bin/plan'), `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`, { mode: 0o755 });
    if (plan !== undefined) this.write('p.yaml', plan);
    context.onTestFinished(async () => {
      for (const group of this.#groups) signalGroup(group);
      try {
        await this.finish();
      } finally {
        rmSync(this.#root, { recursive: true, force: true });
      }
    });
  }

  /** Called at the end, before the folder is removed. */
  protected async finish(): Promise<void> {}

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

  /** Every byte that the store keeps on disk, database and logs. */
  storeBytes(): Buffer {
    const files = readdirSync(join(this.dir, '.plan'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
  }

  start(args: string[], env: Env = {}): { child: ChildProcess; ended: Promise<Ended> } {
    return this.#start(process.execPath, [BIN, ...args], this.dir, env);
  }

  plan(args: string[], env: Env = {}): Promise<Ended> {
    return this.start(args, env).ended;
  }

  /** Runs a bash script in the folder; `plan` is a command there. */
  bash(script: string, env: Env = {}): Promise<Ended> {
    return this.#start('bash', ['-c', `${PRELUDE}${script}`], this.dir, { PATH: `${join(this.#root, 'bin')}:${process.env['PATH'] ?? ''}`, ...env }).ended;
  }

  /** Runs a module that may import "planwright"; its working folder is this one. */
  node(program: string): Promise<Ended> {
    // Bare names are looked up from where the module is: inside the package.
    return this.#start(process.execPath, ['--input-type=module', '-e', `process.chdir(${JSON.stringify(this.dir)});\n${program}`], ROOT, {}).ended;
  }

  async json<T>(args: string[]): Promise<T> {
    const { stdout, stderr } = await this.plan([...args, '--json']);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as T;
  }

  async events(session: string): Promise<Array<{ seq: number; type: string; step_id?: string; epoch: number }>> {
    const { stdout } = await this.plan(['events', session, '--json']);
    return stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
  }

  /** Waits until something holds, looking every 20 ms. */
  async until(what: string, holds: () => boolean | Promise<boolean>, seconds = 30): Promise<void> {
    for (const end = Date.now() + seconds * 1000; !(await holds()); ) {
      if (Date.now() > end) throw new Error(`waited ${seconds}s in vain for ${what}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  async untilFile(name: string, seconds = 30): Promise<void> {
    await this.until(name, () => this.exists(name), seconds);
  }

  #start(command: string, args: string[], cwd: string, env: Env): { child: ChildProcess; ended: Promise<Ended> } {
    const started = Date.now();
    const child = spawn(command, args, { cwd, env: { ...cleanEnv(), ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    if (child.pid !== undefined) this.#groups.add(child.pid);
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const ended = new Promise<Ended>((done) => child.on('close', (code, signal) => done({ code, signal, ...output, seconds: (Date.now() - started) / 1000 })));
    return { child, ended };
  }
}

function signalGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // it has ended
  }
}

// What a developer's own shell sets must not change what a test sees.
function cleanEnv(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of ['NODE_OPTIONS', 'PLAN_HOME', 'NO_COLOR', 'CI', 'TOKEN', 'WINDOW']) delete env[name];
  return env;
}

/** Process ids whose command line contains a text. */
export function processesWith(text: string): number[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter((line) => line.includes(text) && !line.includes('ps -eo'))
    .map((line) => Number(line.trim().split(' ')[0]));
}

/** Whether a process runs; one that has ended and that nobody collected does not. */
export function alive(pid: number): boolean {
  const row = readProcess(pid);
  return row !== undefined && !hasEnded(row);
}
