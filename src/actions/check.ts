// `check`: an expression that must hold.
import { ActionError } from '../core/error.js';
import type { CheckAction } from '../plan/plan.js';
import type { Action } from './action.js';
import { asActionError } from './as-action-error.js';

export const checkAction: Action<CheckAction> = {
  kind: 'check',
  async execute(action, context) {
    try {
      if (context.resolve.condition(action.that, 'check.that')) return { kind: 'completed', output: { outputs: {}, result: null } };
      const message = action.message === undefined ? `the check does not hold: ${action.that}` : context.resolve.text(action.message, 'check.message');
      throw new ActionError({ class: 'permanent', code: 'check_failed', message });
    } catch (error) {
      throw asActionError(error, context.masker);
    }
  },
};
