// The binary, as a user starts it: its own process, its own folder, its own store.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach } from 'vitest';
import { hasEnded, readProcess } from '../../src/process/process-table.js';
import { tempDir } from './sessions.js';

const BIN = resolve(import.meta.dirname, '../../bin/plan.js');

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** A folder with a plan file `p.yaml`, and commands run in it. `w` waits for a file, as a test of a crash must. */
export class PlanFolder {
  readonly dir = tempDir();

  constructor(plan?: string) {
    if (plan !== undefined) this.write('p.yaml', plan);
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

  /** Everything that the store keeps on disk, database and logs. */
  storeBytes(): Buffer {
    const root = join(this.dir, '.plan');
    const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return Buffer.concat(files.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
  }

  start(args: string[], env: { [name: string]: string } = {}): { child: ChildProcess; ended: Promise<Ended> } {
    const child = spawn(process.execPath, [BIN, ...args], { cwd: this.dir, env: { ...cleanEnv(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const ended = new Promise<Ended>((done) =>
      child.on('close', (code, signal) => {
        running.delete(child);
        done({ code, signal, ...output });
      }),
    );
    return { child, ended };
  }

  plan(args: string[], env: { [name: string]: string } = {}): Promise<Ended> {
    return this.start(args, env).ended;
  }

  async json<T>(args: string[]): Promise<T> {
    const ended = await this.plan([...args, '--json']);
    return JSON.parse(ended.stdout) as T;
  }

  async events(session: string): Promise<Array<{ seq: number; type: string; step_id?: string; epoch: number }>> {
    const { stdout } = await this.plan(['events', session, '--json']);
    return stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
  }

  /** Waits until a condition holds, looking every 20 ms; fails after `seconds`. */
  async until(what: string, holds: () => boolean, seconds = 30): Promise<void> {
    const end = Date.now() + seconds * 1000;
    while (!holds()) {
      if (Date.now() > end) throw new Error(`waited ${seconds}s in vain for ${what}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  async untilFile(name: string, seconds = 30): Promise<void> {
    await this.until(name, () => this.exists(name), seconds);
  }
}

// What a developer's own shell may set must not change what a test sees.
function cleanEnv(): NodeJS.ProcessEnv {
  const env = { ...process.env };
  for (const name of ['NODE_OPTIONS', 'PLAN_HOME', 'NO_COLOR', 'CI']) delete env[name];
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
