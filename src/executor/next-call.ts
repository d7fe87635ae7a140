// What to do next, in the words of who reads it: a command where the store is a file, a call where only this process has it.
import type { Store } from '../store/store.js';

type Place = Pick<Store, 'location'>;

/** A command or a call with the id of a session. */
export function nextCall(store: Place, verb: 'resume' | 'retry' | 'cancel', sessionId: string): string {
  if (!isInMemory(store)) return `plan ${verb} ${sessionId}`;
  return `executor.${verb}(${JSON.stringify(sessionId)}${verb === 'cancel' ? ', { actor, reason }' : ''})`;
}

export function listCall(store: Place): string {
  return isInMemory(store) ? 'store.listSessions()' : 'plan list';
}

export function runCall(store: Place, planFile: string): string {
  return isInMemory(store) ? 'executor.run(plan)' : `plan run ${planFile}`;
}

function isInMemory({ location }: Place): boolean {
  return location === ':memory:';
}
