// The step kinds that every executor knows.
import { createPipePool } from '../process/pipe-pool.js';
import type { AnyAction } from './action.js';
import { createCallAction } from './call.js';
import { checkAction } from './check.js';
import { httpAction } from './http.js';
import { createRunAction } from './run.js';
import { setAction } from './set.js';
import { waitAction } from './wait.js';

/** All standard actions, made anew: `run http call check set wait`. */
export function standardActions(): AnyAction[] {
  const pool = createPipePool();
  return [createRunAction(pool), httpAction, createCallAction(pool), checkAction, setAction, waitAction];
}
