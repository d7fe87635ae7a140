// Starts a command, and says exactly why when it cannot be started.
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { ActionError, type ErrorClass } from '../core/error.js';

export interface SpawnRequest {
  /** The command and its arguments; the command is looked up in the PATH of `env`, relative ones in `cwd`. */
  argv: readonly string[];
  cwd: string;
  /** The whole environment of the command. */
  env: { [name: string]: string };
  stdio: StdioOptions;
}

// What execvp searches when there is no PATH.
const DEFAULT_PATH = '/bin:/usr/bin';

/**
 * Starts the command as leader of its own process group and session. Throws ActionError: `cwd_missing`,
 * `command_not_found`, `argument_list_too_long`, `invalid_command` (permanent), `spawn_failed` (transient when the
 * system is short of something).
 */
export async function spawnChild(request: SpawnRequest): Promise<ChildProcess> {
  const { argv, cwd, env, stdio } = request;
  checkStrings(argv, env);
  let child: ChildProcess;
  try {
    child = spawn(argv[0] as string, argv.slice(1), { cwd, env, stdio, detached: true });
  } catch (error) {
    throw spawnFailure(error, request);
  }
  if (child.pid !== undefined) return child;
  const [error] = await new Promise<unknown[]>((settle) => child.once('error', (...args) => settle(args)));
  throw spawnFailure(error, request);
}

/** Checks the working directory; throws ActionError `cwd_missing` naming it. */
export function checkCwd(cwd: string): void {
  let found: string;
  try {
    if (statSync(cwd).isDirectory()) return;
    found = 'is no folder';
  } catch (error) {
    found = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : `cannot be entered (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
  }
  throw fault('permanent', 'cwd_missing', `the working directory ${cwd} ${found}; make it in an earlier step or correct \`cwd\``);
}

/** Where a command is found: in the PATH of `env`, or relative to `cwd` when it holds a slash. */
export function findCommand(name: string, cwd: string, env: { [name: string]: string | undefined }): { path: string; executable: boolean } | undefined {
  const places = name.includes('/') ? [isAbsolute(name) ? name : resolve(cwd, name)] : (env['PATH'] ?? DEFAULT_PATH).split(delimiter).map((folder) => join(resolve(cwd, folder), name));
  let found: { path: string; executable: boolean } | undefined;
  for (const path of places) {
    if (!isFile(path)) continue;
    if (mayExecute(path)) return { path, executable: true };
    found ??= { path, executable: false };
  }
  return found;
}

function checkStrings(argv: readonly string[], env: { [name: string]: string }): void {
  if (argv[0] === undefined || argv[0] === '') throw fault('permanent', 'invalid_command', 'the command is empty; give the name of a program');
  const argument = argv.findIndex((text) => text.includes('\0'));
  if (argument >= 0) throw fault('permanent', 'invalid_command', `argument ${argument} of the command holds a NUL character, which no argument can; pass such data by stdin`);
  for (const [name, value] of Object.entries(env)) {
    if (name === '' || name.includes('=') || name.includes('\0')) throw fault('permanent', 'invalid_command', `"${name}" cannot name an environment variable`);
    if (value.includes('\0')) throw fault('permanent', 'invalid_command', `the environment variable ${name} holds a NUL character, which no variable can; pass such data by stdin`);
  }
}

function spawnFailure(error: unknown, { argv, cwd, env }: SpawnRequest): ActionError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const name = argv[0] as string;
  if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR' || code === 'ENOEXEC' || code === 'ELOOP' || code === 'ENAMETOOLONG') {
    checkCwd(cwd); // it may have been removed meanwhile
    return fault('permanent', 'command_not_found', whyNotFound(name, code, findCommand(name, cwd, env)), error);
  }
  if (code === 'E2BIG') {
    return fault('permanent', 'argument_list_too_long', `the arguments and environment of "${name}" are larger than the system allows; pass the data by stdin or in a file`, error);
  }
  const short = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'EBUSY', 'ETXTBSY'].includes(code);
  return fault(short ? 'transient' : 'permanent', 'spawn_failed', `"${name}" could not be started: ${code || (error as Error).message}`, error);
}

function whyNotFound(name: string, code: string, found: { path: string; executable: boolean } | undefined): string {
  if (found === undefined) return name.includes('/') ? `the command ${name} does not exist` : `the command "${name}" is in no folder of PATH; install it or correct its name`;
  if (!found.executable) return `the command ${found.path} may not be executed; make it executable: chmod +x ${found.path}`;
  if (code === 'ENOENT') return `the command ${found.path} exists, but not the interpreter that its first line names`;
  return `the command ${found.path} cannot be executed (${code})`;
}

function fault(errorClass: ErrorClass, code: string, message: string, cause?: unknown): ActionError {
  return new ActionError({ class: errorClass, code, message }, cause === undefined ? {} : { cause });
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function mayExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
