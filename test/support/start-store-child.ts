// Child processes of tests that run TypeScript sources.
import { spawn, type ChildProcessWithoutNullStreams, type SpawnOptionsWithoutStdio } from 'node:child_process';
import { createInterface } from 'node:readline';

const LOADER = new URL('./typescript-loader.mjs', import.meta.url).href;
const SCRIPT = new URL('./store-child.ts', import.meta.url).pathname;

export interface StoreChild {
  process: ChildProcessWithoutNullStreams;
  lines: string[];
  /** Resolves when a line with this beginning came; rejects when the child ends before. */
  said(beginning: string): Promise<string>;
  /** Resolves to all lines when the child ended; rejects with its stderr when it broke. */
  ended(): Promise<string[]>;
}

/** Starts `store-child.ts` in a mode; `wrap` is a command that runs it, such as strace with its options. */
export function startStoreChild(args: string[], options: SpawnOptionsWithoutStdio = {}, wrap: string[] = []): StoreChild {
  const command = [...wrap, process.execPath, '--import', LOADER, SCRIPT, ...args];
  const child = spawn(command[0] as string, command.slice(1), { stdio: 'pipe', ...options });
  const lines: string[] = [];
  let stderr = '';
  const waiting: Array<() => void> = [];
  const wake = () => waiting.splice(0).forEach((resolve) => resolve());
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    wake();
  });
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
  child.stdin.on('error', () => undefined);
  let closed: { code: number | null } | undefined;
  child.on('close', (code) => {
    closed = { code };
    wake();
  });
  const change = () => new Promise<void>((resolve) => waiting.push(resolve));
  return {
    process: child,
    lines,
    async said(beginning) {
      for (;;) {
        const line = lines.find((candidate) => candidate.startsWith(beginning));
        if (line !== undefined) return line;
        if (closed) throw new Error(`the child ended without saying "${beginning}": ${stderr}`);
        await change();
      }
    },
    async ended() {
      while (!closed) await change();
      if (closed.code !== 0) throw new Error(`the child ended with ${closed.code}: ${stderr}`);
      return lines;
    },
  };
}
