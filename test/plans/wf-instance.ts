// Workflow instances of the public WfInstances collection (ids, parents, runtimes), turned into plans.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface WfTask {
  id: string;
  parents: string[];
  runtime_s: number;
}
export interface WfInstance {
  file: string;
  tasks: WfTask[];
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Where the instances lie: WFINSTANCES, or beside the project. They are not part of it. */
export const WF_FOLDER = process.env['WFINSTANCES'] ?? resolve(ROOT, '../shared/data/wfinstances');

/** All instances there; empty when the folder is absent. */
export function readInstances(): WfInstance[] {
  if (!existsSync(WF_FOLDER)) return [];
  return readdirSync(WF_FOLDER)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((file) => ({ file, tasks: (JSON.parse(readFileSync(join(WF_FOLDER, file), 'utf8')) as { tasks: WfTask[] }).tasks }));
}

/**
 * Step id of a task id; no two task ids have the same one. Letters, digits and "_" stay, every other byte becomes "-" and
 * two hex digits (so "-" itself is escaped). The "t" in front makes any first character allowed. What is too long ends
 * in a digest of the whole.
 */
export function stepIdOf(taskId: string): string {
  const escaped = [...Buffer.from(taskId)]
    .map((byte) => (/[A-Za-z0-9_]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `-${byte.toString(16).padStart(2, '0')}`))
    .join('');
  if (escaped.length < 100) return `t${escaped}`;
  // "-z" occurs in no escaped id, since z is no hex digit.
  return `t${escaped.slice(0, 60)}-z${createHash('sha256').update(taskId).digest('hex').slice(0, 32)}`;
}

/** The instance as a plan: every task is one `call`. */
export function planOf(instance: WfInstance, scheduling: 'layered' | 'eager'): object {
  const steps = Object.fromEntries(
    instance.tasks.map((task) => [
      stepIdOf(task.id),
      { ...(task.parents.length === 0 ? {} : { needs: task.parents.map(stepIdOf) }), call: { function: 'task' } },
    ]),
  );
  return { plan: 1, name: instance.file, scheduling, steps };
}

/** Longest way from a task without parents, in edges: what the layer of a step must be. Relaxes edges until none changes. */
export function levelsOf(instance: WfInstance): Map<string, number> {
  const levels = new Map(instance.tasks.map((task) => [task.id, 0]));
  for (let changed = true; changed; ) {
    changed = false;
    for (const task of instance.tasks) {
      for (const parent of task.parents) {
        const least = (levels.get(parent) as number) + 1;
        if ((levels.get(task.id) as number) >= least) continue;
        levels.set(task.id, least);
        changed = true;
      }
    }
  }
  return levels;
}
