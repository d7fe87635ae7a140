// The command `plan`. The only place that ends the process.
import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { systemClock } from '../core/clock.js';
import { UsageError } from '../core/error.js';
import type { CliContext } from './cli-context.js';
import { reportError } from './error-report.js';
import { EXIT } from './exit-code.js';
import { Output } from './output.js';
import { createProgram, type Outcome } from './program.js';

const context: CliContext = {
  out: new Output(process.stdout, process.env),
  err: new Output(process.stderr, process.env),
  env: process.env,
  // Asked when a verb begins: help needs no folder, and where there is none the verb says so.
  get cwd() {
    return currentFolder();
  },
  clock: systemClock,
  store: undefined,
  onSignal(signal, listener) {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  },
  onFault(listener) {
    process.on('uncaughtException', listener);
    return () => process.off('uncaughtException', listener);
  },
  onSuddenEnd(decide) {
    const onExit = (code: number) => void (process.exitCode = decide(code));
    process.on('exit', onExit);
    return () => process.off('exit', onExit);
  },
  leave: (code) => process.exit(code),
};

let driving = false;
const code = await main(process.argv.slice(2)).then(afterFlush);
await context.err.flushed();
// Explicitly: what a module of a plan left open must not keep the command from ending.
process.exit(code);

async function main(args: string[]): Promise<number> {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  let outcome: Outcome | undefined;
  const program = createProgram(version, context, (called) => (outcome = called));
  try {
    if (args.length === 0) program.help({ error: true });
    program.parse(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage;
    return reportError(context, error, false);
  }
  if (outcome === undefined) return EXIT.usage;
  const { run, json, drives } = outcome as Outcome;
  driving = drives;
  try {
    return await run();
  } catch (error) {
    return reportError(context, error, json);
  }
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('no_folder', 'the current folder was deleted; change to one that exists (cd ..) and try again');
  }
}

// Data that could not be written (a full disk) is a failure; not of a session, whose ending the code tells.
async function afterFlush(code: number): Promise<number> {
  await context.out.flushed();
  await new Promise((resolve) => setImmediate(resolve)); // a write that failed is told a turn later
  const { fault } = context.out;
  if (fault === undefined) return code;
  context.err.line(`error: stdout could not be written: ${fault.message}`);
  return code === EXIT.completed && !driving ? EXIT.failed : code;
}
