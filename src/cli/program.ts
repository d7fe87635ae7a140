// The verbs and their options. What a verb does is loaded when it is called: starting costs what is used.
import { Command, type Argument } from 'commander';
import type { CliContext } from './cli-context.js';
import { collect } from './parse-options.js';

const EXIT_CODES = 'Exit codes: 0 completed, 1 failed, 2 usage or invalid plan, 3 waiting, 5 cancelled, 6 held by another process, 7 store refused, 130 interrupted (resumable).';
const helpWidth = ({ columns }: { columns: number }) => Math.min(columns, 110);
const humanReadable = (argument: Argument) => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};

/** What the verb that was called gave: its exit code, or its error. */
export interface Outcome {
  run: () => Promise<number>;
  json: boolean;
  /** Whether the exit code tells how a session stands. */
  drives: boolean;
}

/**
 * Makes the parser. Parsing calls `called` with what to run; commander throws a CommanderError for what it cannot read
 * and for help.
 */
export function createProgram(version: string, context: CliContext, called: (outcome: Outcome) => void): Command {
  const program = new Command('plan')
    .description('Runs plans: DAGs of steps that survive crashes.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .option('--store <path>', 'file or folder of the store (default: $PLAN_HOME, else .plan here)')
    .configureHelp({
      showGlobalOptions: true,
      // Narrow terminals: short terms, and descriptions that wrap in the room that is left.
      minWidthToWrap: 20,
      subcommandTerm: (verb) => [verb.name(), ...verb.registeredArguments.map((argument) => humanReadable(argument))].join(' '),
    })
    .showHelpAfterError('(plan --help shows the verbs; plan VERB --help its options)')
    .addHelpText('after', ({ command, error }) => `\n${command.createHelp().boxWrap(EXIT_CODES, helpWidth(error ? context.err : context.out))}`)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.out.text(text),
      writeErr: (text) => context.err.text(text),
      getOutHasColors: () => context.out.colour,
      getErrHasColors: () => context.err.colour,
      getOutHelpWidth: () => helpWidth(context.out),
      getErrHelpWidth: () => helpWidth(context.err),
    });
  const call = (options: { json?: boolean }, verb: (context: CliContext) => Promise<number>, drives = false): void => {
    const { store } = program.opts<{ store?: string }>();
    called({ json: options.json === true, drives, run: () => verb({ ...context, store }) });
  };

  program
    .command('run')
    .description('run a plan as a new session')
    .argument('<file>', 'the plan')
    .option('-p, --param <name=value>', 'value of a param (repeatable)', collect)
    .option('--params-file <file>', 'params as a YAML or JSON mapping; --param wins over it')
    .option('-s, --session <id>', 'id of the session (default: a new one, by time)')
    .option('--max-wait <duration>', 'leave (exit 3) rather than wait longer than this for a retry or a timer')
    .option('--json', 'print the events, one JSON object a line, and the result last')
    .option('-q, --quiet', 'do not show what steps write')
    .action((file: string, options) => call(options, async (c) => (await import('./commands/run.js')).run(c, file, options), true));

  program
    .command('resume')
    .description('go on with a session that was interrupted, waits or failed')
    .argument('<session>')
    .option('--add-budget <attempts=n>', 'raise the budget of the session first (repeatable)', collect)
    .option('--max-wait <duration>', 'leave (exit 3) rather than wait longer than this for a retry or a timer')
    .option('--json', 'print the events, one JSON object a line, and the result last')
    .option('-q, --quiet', 'do not show what steps write')
    .action((session: string, options) => call(options, async (c) => (await import('./commands/resume.js')).resume(c, session, options), true));

  program
    .command('retry')
    .description('run failed or named steps again of a session that ended without completing')
    .argument('<session>')
    .option('--from <step...>', 'steps to run again although they completed')
    .option('--max-wait <duration>', 'leave (exit 3) rather than wait longer than this for a retry or a timer')
    .option('--json', 'print the events, one JSON object a line, and the result last')
    .option('-q, --quiet', 'do not show what steps write')
    .action((session: string, options) => call(options, async (c) => (await import('./commands/retry.js')).retry(c, session, options), true));

  program
    .command('cancel')
    .description('end a session, wherever it runs or waits')
    .argument('<session>')
    .option('--reason <text>', 'why; stored with it')
    .option('--json', 'print one JSON object')
    .action((session: string, options) => call(options, async (c) => (await import('./commands/cancel.js')).cancel(c, session, options)));

  program
    .command('validate')
    .description('check plans; nothing is run')
    .argument('<files...>')
    .option('--json', 'print one JSON object')
    .action((files: string[], options) => call(options, async (c) => (await import('./commands/validate.js')).validate(c, files, options)));

  program
    .command('list')
    .description('list sessions, newest first')
    .option('--status <status>', 'only these (repeatable, or with commas)', collect)
    .option('--plan <name>', 'only sessions of the plan with this name')
    .option('--limit <n>', 'at most so many (default: 50)')
    .option('--json', 'print one JSON object')
    .action((options) => call(options, async (c) => (await import('./commands/list.js')).list(c, options)));

  program
    .command('show')
    .description('show how a session stands, or one step of it')
    .argument('<session>')
    .argument('[step]')
    .option('--json', 'print one JSON object')
    .action((session: string, step: string | undefined, options) => call(options, async (c) => (await import('./commands/show.js')).show(c, session, step, options)));

  program
    .command('logs')
    .description('print what steps wrote')
    .argument('<session>')
    .argument('[step]')
    .option('--attempt <n>', 'of this attempt (default: the last)')
    .action((session: string, step: string | undefined, options) => call({}, async (c) => (await import('./commands/logs.js')).logs(c, session, step, options)));

  program
    .command('events')
    .description('print the events of a session')
    .argument('<session>')
    .option('--after <seq>', 'only those after this number')
    .option('-f, --follow', 'go on until the session ends')
    .option('--json', 'print one JSON object a line')
    .action((session: string, options) => call(options, async (c) => (await import('./commands/events.js')).events(c, session, options)));

  program
    .command('audit')
    .description('rebuild a session from its events and compare')
    .argument('<session>')
    .option('--json', 'print one JSON object')
    .action((session: string, options) => call(options, async (c) => (await import('./commands/audit.js')).audit(c, session, options)));

  program
    .command('doctor')
    .description('check the machine and the store, and what was left behind')
    .option('--json', 'print one JSON object')
    .action((options) => call(options, async (c) => (await import('./commands/doctor.js')).doctor(c, options)));

  return program;
}
