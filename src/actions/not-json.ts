import { ActionError } from '../core/error.js';

/** The error for a value that cannot be stored as JSON; `found` is what findNonJson says. */
export function notJson(what: string, found: { path: string; found: string }): ActionError {
  return new ActionError({
    class: 'permanent',
    code: 'not_json',
    message: `${what} must be JSON, but ${found.path} is ${found.found}; convert it to a string, number, boolean, list or object`,
    details: { path: found.path, found: found.found },
  });
}
