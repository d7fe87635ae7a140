// Checks of the private places of steps: whether there is one, and what dead processes left there.
import { dirname } from 'node:path';
import { ActionError } from '../../core/error.js';
import { makeScratch, removeDeadScratch } from '../../process/scratch.js';
import { plural } from '../words.js';
import type { Check } from './check-machine.js';

/** Removes what processes that are gone left; nobody else would. */
export function checkScratch(): Check {
  const name = 'private folders';
  const removed = removeDeadScratch();
  const left = removed === 0 ? '' : `; ${plural(removed, 'thing')} that dead processes left there ${removed === 1 ? 'was' : 'were'} removed`;
  try {
    const scratch = makeScratch();
    scratch.remove();
    return { name, status: 'ok', message: `steps get theirs in ${dirname(scratch.folder)}${left}` };
  } catch (error) {
    if (!(error instanceof ActionError)) throw error;
    return { name, status: 'error', message: error.message.split('; ')[0] as string, advice: 'make room there, or set TMPDIR to a folder that exists and can be written' };
  }
}
