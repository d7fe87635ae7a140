import { expect, test } from 'vitest';
import { processIdentity } from '../../src/process/identity.js';
import { mayEnd, parseTag, processTag } from '../../src/process/process-tag.js';

const drive = { store: { id: 'abc', instance: 'fd01-9' }, session_id: 'S-1', epoch: 7 };
const step = { step_id: 'build_it', generation: 2, attempt: 3 };

test('a mark says which store, session, drive, driver and attempt a process belongs to', () => {
  const tag = processTag(drive, step);
  expect(tag).toMatch(/^abc\.fd01-9\/S-1\/7\.\d+\.[^/\s]+\/build_it\/2\.3$/);
  expect(parseTag(tag)).toMatchObject({ ...drive, ...step, driver: { pid: processIdentity().pid } });
});

test.each(['', 'x', 'hash/S/step/1.1', 'a.b/S/1.2.3.4/step', 'a.b/S/x.2.3.4/step/1.1', 'a.b/S/1.2.3.4/step/1.1/more', '/////'])('%j is no mark, so nothing is ended for it', (text) => {
  expect(parseTag(text)).toBeUndefined();
  expect(mayEnd(drive, text)).toBe(false);
});
