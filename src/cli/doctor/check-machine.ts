// Checks of the machine: Node, SQLite, a shell, a way to see processes.
import { existsSync } from 'node:fs';
import { DEFAULT_SHELLS } from '../../actions/run.js';
import { findCommand } from '../../process/spawn-child.js';
import { listProcesses } from '../../process/process-table.js';
import { unsafeSqlite } from '../../store/sqlite/sqlite-version.js';

export interface Check {
  name: string;
  status: 'ok' | 'warning' | 'error';
  message: string;
  /** What to do. */
  advice?: string;
}

// As package.json's `engines` says.
const LEAST_NODE = [20, 19] as const;

export async function checkMachine(env: NodeJS.ProcessEnv): Promise<Check[]> {
  return [checkNode(process.versions.node), await checkSqlite(), checkShell(env), checkProcesses()];
}

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fits = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  const name = 'node';
  if (fits) return { name, status: 'ok', message: version };
  return { name, status: 'error', message: `${version}; ${LEAST_NODE.join('.')} or newer is needed`, advice: 'install a newer Node.js' };
}

async function checkSqlite(): Promise<Check> {
  const name = 'sqlite';
  try {
    const { default: Database } = await import('better-sqlite3');
    const db = new Database(':memory:');
    const version = db.prepare('SELECT sqlite_version()').pluck().get() as string;
    db.close();
    const why = unsafeSqlite(version);
    if (why === undefined) return { name, status: 'ok', message: `${version}, without the WAL-reset fault` };
    return { name, status: 'error', message: `${version}: ${why}`, advice: 'update better-sqlite3: npm install better-sqlite3@12' };
  } catch (error) {
    return { name, status: 'error', message: `it cannot be loaded: ${(error as Error).message}`, advice: 'run npm rebuild better-sqlite3 with this Node' };
  }
}

function checkShell(env: NodeJS.ProcessEnv): Check {
  const name = 'shell';
  const path = { PATH: env['PATH'] ?? '' };
  const [first] = DEFAULT_SHELLS.filter(([shell]) => findCommand(shell as string, '/', path)?.executable === true);
  if (first !== undefined) return { name, status: 'ok', message: `scripts run with ${first.join(' ')}` };
  return { name, status: 'error', message: `no ${DEFAULT_SHELLS.map(([shell]) => shell).join(' and no ')} in PATH (${path.PATH})`, advice: 'install one, mend PATH, or name a `shell` in the plan' };
}

function checkProcesses(): Check {
  const name = 'processes';
  if (existsSync('/proc/self/stat')) return { name, status: 'ok', message: '/proc shows them' };
  if (listProcesses({ tags: false }).length > 0) return { name, status: 'ok', message: 'ps shows them (there is no /proc)' };
  return { name, status: 'warning', message: 'neither /proc nor ps shows them: children that leave their process group will not be found', advice: 'mount /proc, or install ps' };
}
