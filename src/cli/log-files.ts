// Log files of a session: one for each attempt, `STEP.GENERATION.ATTEMPT.log` in the session's folder.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const NAME = /^(?<step>[^.]+)\.(?<generation>\d+)\.(?<attempt>\d+)\.log$/;

export interface LogFile {
  step_id: string;
  generation: number;
  attempt: number;
  path: string;
}

/** Where the log of an attempt is. */
export function logPath(folder: string, stepId: string, generation: number, attempt: number): string {
  return join(folder, `${stepId}.${generation}.${attempt}.log`);
}

/** The logs in a folder, oldest attempt of a step first; none when there is no such folder. */
export function logFilesIn(folder: string): LogFile[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  const files = names.flatMap((name) => {
    const groups = NAME.exec(name)?.groups;
    if (groups === undefined) return [];
    return [{ step_id: groups['step'] as string, generation: Number(groups['generation']), attempt: Number(groups['attempt']), path: join(folder, name) }];
  });
  return files.sort((a, b) => a.generation - b.generation || a.attempt - b.attempt);
}
