// Session ids: sortable by time, safe as a file name on every system.
import { randomBytes } from 'node:crypto';

const ID = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/;
// Names that Windows keeps for devices; refused everywhere, so that a store can move between systems.
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/** A new session id such as `20261201-093000-4f1c9a`. */
export function newSessionId(now: number): string {
  const stamp = new Date(now).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `${stamp}-${randomBytes(3).toString('hex')}`;
}

/** Whether a text may name a session: letters, digits, `_`, `-`, at most 100, no reserved device name. */
export function isSessionId(text: string): boolean {
  return ID.test(text) && !RESERVED.test(text);
}
