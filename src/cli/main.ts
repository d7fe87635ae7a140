// The command `plan`. The only place that ends the process.
import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { systemClock } from '../core/clock.js';
import type { CliContext } from './cli-context.js';
import { reportError } from './error-report.js';
import { EXIT } from './exit-code.js';
import { Output } from './output.js';
import { createProgram, type Outcome } from './program.js';

const context: CliContext = {
  out: new Output(process.stdout, process.env),
  err: new Output(process.stderr, process.env),
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  store: undefined,
  onSignal(signal, listener) {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  },
  leave: (code) => process.exit(code),
};

const code = await main(process.argv.slice(2));
await context.out.flushed();
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
  const { run, json } = outcome as Outcome;
  try {
    return lossCode(await run());
  } catch (error) {
    return reportError(context, error, json);
  }
}

// Data that could not be written is a failure of a command that had nothing else to do than to write it.
function lossCode(code: number): number {
  const { fault } = context.out;
  if (fault === undefined) return code;
  context.err.line(`error: stdout could not be written: ${fault.message}`);
  return code === EXIT.completed ? EXIT.failed : code;
}
