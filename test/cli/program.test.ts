import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { describe, expect, test } from 'vitest';
import { createProgram, type Outcome } from '../../src/cli/program.js';
import { fakeWorld } from './support.js';

function parse(...args: string[]): { outcome?: Outcome; error?: CommanderError; stdout: string; stderr: string } {
  const { context, stdout, stderr } = fakeWorld();
  let outcome: Outcome | undefined;
  try {
    createProgram('1.2.3', context, (called) => (outcome = called)).parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { error, stdout: stdout.text, stderr: stderr.text };
  }
  return { ...(outcome === undefined ? {} : { outcome }), stdout: stdout.text, stderr: stderr.text };
}

describe('the command line', () => {
  test('help and version go to stdout and are no error', () => {
    expect(parse('--help')).toMatchObject({ error: { exitCode: 0 }, stderr: '' });
    expect(parse('run', '--help').stdout).toContain('--params-file');
    expect(parse('--version').stdout).toBe('1.2.3\n');
  });

  test('help fits a terminal of 60 columns', () => {
    for (const args of [['--help'], ['run', '--help'], ['list', '--help']]) {
      const world = fakeWorld();
      world.stdout.columns = 60;
      expect(() => createProgram('1', world.context, () => undefined).parse(args, { from: 'user' })).toThrow(CommanderError);
      expect(world.stdout.text.split('\n').filter((line) => line.length > 60)).toEqual([]);
    }
  });

  test('an unknown verb or option says what was probably meant', () => {
    expect(parse('resum', 'S').stderr).toContain('Did you mean resume?');
    expect(parse('run', 'p.yaml', '--parm', 'a=1').stderr).toContain('Did you mean --param?');
    expect(parse('run').stderr).toContain("missing required argument 'file'");
  });

  test('--store is taken before and after the verb', () => {
    for (const args of [['--store', 'x', 'list'], ['list', '--store', 'x']]) expect(parse(...args).outcome).toBeDefined();
  });

  test('every verb and every option is in docs/cli.md', () => {
    const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
    const { commands } = createProgram('1', fakeWorld().context, () => undefined);
    expect(commands.map((command) => command.name()).sort()).toEqual(['audit', 'cancel', 'doctor', 'events', 'list', 'logs', 'resume', 'retry', 'run', 'show', 'validate']);
    for (const command of commands) {
      expect(page).toContain(`\`plan ${command.name()}`);
      for (const option of command.options) expect(page, `${command.name()} ${option.long}`).toContain(option.long);
    }
  });
});
