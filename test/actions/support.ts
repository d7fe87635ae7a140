// The context of one attempt, with a resolver that resolves nothing: templates are their own values.
import { join } from 'node:path';
import { ActionError } from '../../src/core/error.js';
import { systemClock } from '../../src/core/clock.js';
import type { ActionOutcome, AttemptContext, InputResolver } from '../../src/actions/action.js';
import { createRegistry } from '../../src/actions/registry.js';
import { standardActions } from '../../src/actions/standard-actions.js';
import type { StepAction, StepSpec } from '../../src/plan/plan.js';
import { createMasker } from '../../src/process/masker.js';
import { newTag, tempFolder } from '../process/support.js';

export const registry = createRegistry(standardActions());

export const plainResolver: InputResolver = {
  text: (template) => template,
  value: (template) => template,
  condition: (expression) => expression === 'true',
};

type Options = Partial<Omit<AttemptContext, 'step'>> & { step?: Partial<StepSpec>; secrets?: string[] };

export function contextOf(action: StepAction, { step, secrets, ...rest }: Options = {}): AttemptContext {
  const folder = rest.base_dir ?? tempFolder();
  return {
    session_id: 'S',
    step: {
      id: 'step',
      finally: false,
      needs: [],
      inferred_needs: [],
      after: 'success',
      env: {},
      outputs: {},
      retry: { max_attempts: 1, backoff: 'exponential', delay: 1000, max_delay: 300_000, jitter: true, retry_on: ['transient', 'timeout'], give_up_on: [], max_interruptions: 10 },
      kill_grace: 300,
      continue_on_error: false,
      secrets: [],
      step_hash: '',
      action,
      ...step,
    },
    generation: 1,
    attempt: 2,
    epoch: 1,
    base_dir: folder,
    env: {},
    resolve: plainResolver,
    clock: systemClock,
    now: () => (rest.clock ?? systemClock).now(),
    masker: createMasker(secrets ?? []),
    signal: new AbortController().signal,
    hurry: new AbortController().signal,
    log_path: join(folder, 'logs', 'step.1.2.log'),
    process_tag: newTag(),
    functions: new Map(),
    ...rest,
  };
}

/** Runs one attempt to its outcome. */
export function execute(action: StepAction, options: Options | AttemptContext = {}): Promise<ActionOutcome> {
  const context = 'generation' in options && 'functions' in options && 'hurry' in options ? (options as AttemptContext) : contextOf(action, options as Options);
  return registry.get(action.kind).execute(action, context);
}

/** Runs one attempt that must fail, and gives its error. */
export async function failureOf(action: StepAction, options: Options | AttemptContext = {}): Promise<ActionError> {
  try {
    await execute(action, options);
  } catch (error) {
    if (error instanceof ActionError) return error;
    throw error;
  }
  throw new Error('the attempt did not fail');
}

export async function outputOf(action: StepAction, options: Options | AttemptContext = {}) {
  return (await execute(action, options)).output;
}
