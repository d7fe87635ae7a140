// Sessions, states and commits for tests of stores.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change } from '../../src/core/event.js';
import type { JsonValue } from '../../src/core/json.js';
import type { StepState } from '../../src/core/step-state.js';
import type { Commit, Lease, LeaseHolder, NewSession } from '../../src/store/store.js';

/** Any time; the store must not look at the machine's clock. */
export const T0 = 1_800_000_000_000;

export function holderOf(token: string): LeaseHolder {
  return { token, host: 'h', boot_id: 'b', pid_namespace: 'ns', pid: 7, process_start: '99' };
}

export function newSession(id: string, more: Partial<NewSession> = {}): NewSession {
  return {
    start: {
      session_id: id,
      plan_hash: 'a'.repeat(64),
      plan_name: 'sample',
      created_at: T0,
      params: { region: 'eu', nested: { list: [1, 2.5, null, 'ü', '\u0000'] } },
      host_env: { HOME: '/home/x', MISSING: null },
      base_dir: '/plans',
      plan_file: 'plan.yaml',
    },
    plan_json: '{"name":"sample"}',
    plan_source: 'plan: 1\nname: sample # ü\n',
    state: { status: 'running', generation: 1, attempts_used: 0, attempts_limit: 9, deadline_at: T0 + 1000 },
    holder: holderOf('first'),
    lease_expires_at: T0 + 30_000,
    at: T0,
    data: { by: 'test' },
    ...more,
  };
}

const counted = { generation: 1, attempt: 1, failures: 0, interruptions: 0 };

export function running(more: Partial<StepState> = {}): StepState {
  return { ...counted, interruptions: 1, status: 'running', attempt_started_at: T0, ...more } as StepState;
}

export function completed(value: JsonValue = null, more: Partial<StepState> = {}): StepState {
  return { ...counted, status: 'completed', ended_at: T0 + 1, output: { in: 'row', value: { outputs: {}, result: value } }, ...more } as StepState;
}

export function failed(more: Partial<StepState> = {}): StepState {
  return { ...counted, failures: 1, status: 'failed', ended_at: T0 + 1, tolerated: false, error: { class: 'permanent', code: 'exit', message: 'm', exit_code: 1 }, ...more } as StepState;
}

export function started(stepId: string, more: Partial<StepState> = {}): Change {
  return { type: 'step_started', step_id: stepId, step: running(more) };
}

export function ended(stepId: string, value: JsonValue = null, more: Partial<StepState> = {}): Change {
  return { type: 'step_completed', step_id: stepId, step: completed(value, more) };
}

export function commitOf(lease: Lease, changes: Change[], more: Partial<Commit> = {}): Commit {
  return { session_id: lease.session_id, epoch: lease.epoch, reason: 'step_end', at: T0 + 5, changes, ...more };
}

/** A folder that is removed when the test ends. */
export function temporaryFolder(onTestFinished: (cleanup: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'planwright-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
