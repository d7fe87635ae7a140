// `set`: outputs that are computed from what is known.
import { findNonJson, type JsonValue } from '../core/json.js';
import type { SetAction } from '../plan/plan.js';
import type { Action } from './action.js';
import { asActionError } from './as-action-error.js';
import { notJson } from './not-json.js';

export const setAction: Action<SetAction> = {
  kind: 'set',
  async execute(action, context) {
    try {
      const values: Array<[string, JsonValue]> = Object.entries(action.values).map(([name, template]) => [name, context.resolve.value(template, `set.${name}`)]);
      const outputs = Object.fromEntries(values);
      const found = findNonJson(outputs);
      if (found !== undefined) throw notJson('a value of `set`', found);
      return { kind: 'completed', output: { outputs, result: null } };
    } catch (error) {
      throw asActionError(error, context.masker);
    }
  },
};
