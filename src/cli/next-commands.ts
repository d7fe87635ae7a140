// What can be done next with a session, as commands to type.
import type { SessionStatus } from '../core/session-state.js';

export interface NextCommand {
  command: string;
  /** What it does, a few words. */
  why: string;
}

/**
 * @param session `interrupted`: nobody drives it although it has not ended
 * @param store the --store option to repeat, with a leading space, or ''
 */
export function nextCommands(session: { session_id: string; status: SessionStatus; interrupted: boolean; step_id?: string | undefined }, store: string): NextCommand[] {
  const { session_id: id, status, interrupted, step_id: step } = session;
  const plan = (rest: string) => `plan ${rest}${store}`;
  const cancel = { command: plan(`cancel ${id}`), why: 'end it' };
  switch (status) {
    case 'completed':
      return [];
    case 'failed':
      return [
        { command: plan(`resume ${id}`), why: 'run the failed steps again, and what needs them' },
        ...(step === undefined ? [] : [{ command: plan(`retry ${id} --from STEP`), why: 'run finished steps again too' }]),
      ];
    case 'cancelled':
      return [{ command: plan(`retry ${id}`), why: 'run its unfinished steps after all' }];
    case 'expired':
      return [{ command: plan(`retry ${id}`), why: 'run its unfinished steps with a new deadline' }];
    case 'dead_letter':
      return [{ command: plan(`retry ${id}`), why: 'run it again, once the cause is found' }];
    case 'paused_budget':
      return [{ command: plan(`resume ${id} --add-budget attempts=N`), why: 'go on with N more attempts' }, cancel];
    case 'retry_wait':
    case 'waiting_timer':
      return interrupted ? [{ command: plan(`resume ${id}`), why: 'go on waiting, and then with it' }, cancel] : [cancel];
    case 'ready':
    case 'running':
      return interrupted ? [{ command: plan(`resume ${id}`), why: 'go on where it stopped' }, cancel] : [cancel];
  }
}
