// The mark of a step's processes, PLAN_ATTEMPT_ID: which store, session and drive they belong to, and which attempt.
//
// T1. A drive ends processes of its own epoch and of older ones, never of a newer one: a driver that was stopped goes
//     on after a take-over, and must not touch what its successor started.
// T2. The store is named by the id in its database, so every path to it, and a moved one, gives the same mark. A copy
//     has the id too; a process of another copy is ended only when the driver that started it is dead.
import { asWord as word, processIdentity, type ProcessIdentity } from './identity.js';
import { hasEnded, readProcess } from './process-table.js';

/** One copy of one store. */
export interface StoreMark {
  /** As the database holds it. */
  id: string;
  /** Tells copies apart: device and inode of the file. */
  instance: string;
}

/** One drive of one session. */
export interface DriveMark {
  store: StoreMark;
  session_id: string;
  epoch: number;
}

export interface AttemptMark extends DriveMark {
  /** Who started it; host and boot are this machine's, else nobody could read it. */
  driver: Pick<ProcessIdentity, 'pid' | 'process_start' | 'pid_namespace'>;
  step_id: string;
  generation: number;
  attempt: number;
}

/** `ID.INSTANCE/SESSION/EPOCH.PID.START.NAMESPACE/STEP/GENERATION.ATTEMPT`; no part holds a `/` or a space. */
export function processTag(drive: DriveMark, step: Pick<AttemptMark, 'step_id' | 'generation' | 'attempt'>): string {
  const { pid, process_start: start, pid_namespace: namespace } = processIdentity();
  const driver = [drive.epoch, pid, word(start), word(namespace)].join('.');
  return [`${word(drive.store.id)}.${word(drive.store.instance)}`, drive.session_id, driver, step.step_id, `${step.generation}.${step.attempt}`].join('/');
}

/** Reads a mark; undefined when it is none of this form. */
export function parseTag(tag: string): AttemptMark | undefined {
  const [store = '', session = '', driver = '', step = '', count = '', more] = tag.split('/');
  const [id = '', instance] = store.split('.');
  const [epoch, pid, start, namespace] = driver.split('.');
  const [generation, attempt] = count.split('.').map(Number);
  if (instance === undefined || namespace === undefined || attempt === undefined || more !== undefined || !Number.isInteger(Number(epoch))) return undefined;
  return {
    store: { id, instance },
    session_id: session,
    epoch: Number(epoch),
    driver: { pid: Number(pid), process_start: start ?? '', pid_namespace: namespace },
    step_id: step,
    generation: generation ?? 0,
    attempt,
  };
}

/** Whether a process with this mark belongs to this store: to this copy of it, or to one whose driver is dead. */
export function belongsTo(store: StoreMark, mark: AttemptMark): boolean {
  if (mark.store.id !== word(store.id)) return false;
  return mark.store.instance === word(store.instance) || isDriverDead(mark);
}

/** Whether a drive may end a process with this mark (T1, T2). */
export function mayEnd(drive: DriveMark, tag: string): boolean {
  const mark = parseTag(tag);
  if (mark === undefined || mark.session_id !== drive.session_id || !belongsTo(drive.store, mark)) return false;
  return mark.store.instance !== word(drive.store.instance) || mark.epoch <= drive.epoch;
}

function isDriverDead({ driver }: AttemptMark): boolean {
  const self = processIdentity();
  if (driver.pid_namespace !== word(self.pid_namespace)) return false;
  const found = readProcess(driver.pid);
  return found === undefined || hasEnded(found) || word(found.start) !== driver.process_start;
}
