// One case of a public bug report: a folder of its own in which the command `plan` runs, and no process left at its end.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { expect, type TestContext } from 'vitest';
import { PlanFolder } from '../support/plan-command.js';

// Left out, since they need what later issues bring: B05 and B35 (plans inside plans), B41, B43 and B45 (approvals);
// of B15 the part where a gate is an approval, of B30 the part with plans inside plans.

export interface ShownStep {
  id: string;
  status: string;
  generation: number;
  attempt: number;
  failures: number;
  interruptions: number;
  result?: unknown;
  outputs?: { [name: string]: unknown };
  error?: { class: string; code: string; message: string; exit_code?: number; signal?: string; not_retried?: string };
  skip_reason?: { kind: string; by?: string };
  log?: { bytes: number; kept: number; truncated: boolean; binary: boolean };
}

export interface Shown {
  status: string;
  attempts_used: number;
  counts: { [status: string]: number };
  error?: { step_id?: string; message: string };
  steps: ShownStep[];
}

/** The text of a plan: the head and what follows. */
export function planText(name: string, body: string): string {
  return `plan: 1\nname: ${name}\n${body}`;
}

export class Case extends PlanFolder {
  constructor(context: Pick<TestContext, 'onTestFinished'>, plan?: string) {
    super(plan, context);
  }

  show(session = 'S'): Promise<Shown> {
    return this.json(['show', session]);
  }

  /** One step of a session. */
  async step(id: string, session = 'S'): Promise<ShownStep> {
    const step = (await this.show(session)).steps.find((one) => one.id === id);
    if (step === undefined) throw new Error(`no step ${id}`);
    return step;
  }

  // What is dying gets a moment.
  protected override async finish(): Promise<void> {
    let left: string[] = [];
    for (let look = 0; look < 20; look += 1) {
      left = processesIn(this.dir);
      if (left.length === 0) break;
      await new Promise((done) => setTimeout(done, 100));
    }
    expect(left, 'processes that the case left behind').toEqual([]);
  }
}

// Command lines of the processes that work in a folder; only where /proc tells.
function processesIn(folder: string): string[] {
  if (!existsSync('/proc/self/cwd')) return [];
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return [];
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
    } catch {
      return []; // ended meanwhile, or of another user
    }
  });
}
