// A commit as text, made when it is queued: what the caller changes later cannot reach the store, and what is no JSON
// fails its own caller only.
import type { Change } from '../../core/event.js';
import { isTerminal, type StepState } from '../../core/step-state.js';
import type { Commit } from '../store.js';

export interface EncodedStep {
  update_type: 'progress' | 'outcome';
  generation: number;
  attempt: number;
  status: string;
}

export interface EncodedChange {
  type: Change['type'];
  step_id: string | null;
  step: EncodedStep | undefined;
  step_json: string | null;
  session_json: string | null;
  data_json: string | null;
}

export interface EncodedCommit extends Omit<Commit, 'changes'> {
  changes: EncodedChange[];
  /** About how much it writes. */
  bytes: number;
}

export function encodeCommit(commit: Commit): EncodedCommit {
  // Events must tell all: a cancel that ends without one could not be rebuilt.
  let retried = false;
  const changes: EncodedChange[] = [];
  for (const change of commit.changes) {
    if (change.type === 'session_retried') retried = true;
    changes.push(encodeChange(change));
  }
  if (retried !== (commit.clear_cancel ?? false)) throw new TypeError('clear_cancel and a change "session_retried" belong together');
  const blobs = commit.blobs?.map(({ digest, content }) => ({ digest, content }));
  let bytes = 0;
  for (const change of changes) {
    bytes += 200 + (change.step_json?.length ?? 0) + (change.session_json?.length ?? 0) + (change.data_json?.length ?? 0);
  }
  for (const blob of blobs ?? []) bytes += blob.content.length;
  return { ...commit, changes, ...(blobs ? { blobs } : {}), bytes };
}

export function encodeChange(change: Change): EncodedChange {
  if (change.step !== undefined && change.step_id === undefined) {
    throw new TypeError(`a change "${change.type}" carries the state of a step but names none`);
  }
  return {
    type: change.type,
    step_id: change.step_id ?? null,
    step: change.step && encodeStep(change.step),
    step_json: json(change.step),
    session_json: json(change.session),
    data_json: json(change.data),
  };
}

function encodeStep(state: StepState): EncodedStep {
  const { generation, attempt, status } = state;
  return { update_type: isTerminal(state) ? 'outcome' : 'progress', generation, attempt, status };
}

function json(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
