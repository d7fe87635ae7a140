// Functions that `call` steps name must be registered before anything runs: a long session must not end at its last step
// for a name that was never there.
import type { FunctionTable } from '../actions/action.js';
import { isStandardCall } from '../actions/call.js';
import type { ActionRegistry } from '../actions/registry.js';
import { UsageError } from '../core/error.js';
import { listOf, nearest } from '../core/suggest.js';
import { registeredFunction } from '../plan/check-functions.js';
import type { StepSpec } from '../plan/plan.js';

/** @throws UsageError `unknown_function`, naming every function that is missing */
export function requireFunctions({ registry, functions }: { registry: ActionRegistry; functions: FunctionTable }, steps: readonly StepSpec[]): void {
  const missing = new Map<string, string>();
  for (const { id, action } of steps) {
    const name = action.kind === 'call' ? registeredFunction(action.function) : undefined;
    if (name !== undefined && !functions.has(name) && !missing.has(name)) missing.set(name, id);
  }
  // A host that brings its own kind `call` finds functions its own way.
  if (missing.size === 0 || !isStandardCall(registry.get('call'))) return;
  const told = [...missing].slice(0, 5).map(([name, id]) => {
    const near = nearest(name, functions.keys());
    return `"${name}" (called by ${id}${near === undefined ? '' : `; did you mean "${near}"?`})`;
  });
  const many = missing.size > 1;
  throw new UsageError(
    'unknown_function',
    `the function${many ? 's' : ''} ${listOf(told, 'and')}${missing.size > told.length ? ` and ${missing.size - told.length} more` : ''} ${many ? 'are' : 'is'} not registered; ` +
      'give it to PlanExecutor in `functions` (the command line has none), or name a module: ./module.js#export. Nothing was started',
  );
}
