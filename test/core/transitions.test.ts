import { describe, expect, test } from 'vitest';
import { EVENT_TYPES } from '../../src/core/event.js';
import { SESSION_STATUSES, TERMINAL_SESSION_STATUSES } from '../../src/core/session-state.js';
import { STEP_STATUSES, TERMINAL_STEP_STATUSES } from '../../src/core/step-state.js';
import { assertSessionTransition, assertStepTransition, IllegalTransition, SESSION_TRANSITIONS, STEP_TRANSITIONS } from '../../src/core/transitions.js';

describe('every state with every event', () => {
  test('a step leaves a terminal state only by a new generation', () => {
    for (const from of TERMINAL_STEP_STATUSES)
      for (const event of EVENT_TYPES)
        for (const to of STEP_STATUSES) {
          if (event === 'step_reset' && to === 'pending') continue;
          expect(() => assertStepTransition('s', from, event, to), `${from} ${event} ${to}`).toThrow(IllegalTransition);
        }
  });

  test('a session leaves a terminal state only by a retry, and completed ones never', () => {
    for (const from of TERMINAL_SESSION_STATUSES)
      for (const event of EVENT_TYPES)
        for (const to of SESSION_STATUSES) {
          if (event === 'session_retried' && to === 'running' && from !== 'completed') continue;
          expect(() => assertSessionTransition(from, event, to), `${from} ${event} ${to}`).toThrow(IllegalTransition);
        }
  });

  test('every row of the table is accepted, and nothing else', () => {
    const walk = <S extends string>(rows: readonly { event: string; from: readonly S[]; to: S }[], statuses: readonly S[], check: (from: S, event: never, to: S) => void) => {
      const allowed = new Set(rows.flatMap((row) => row.from.map((from) => `${row.event} ${from} ${row.to}`)));
      for (const from of statuses)
        for (const event of EVENT_TYPES)
          for (const to of statuses) {
            const go = () => check(from, event as never, to);
            if (allowed.has(`${event} ${from} ${to}`)) expect(go).not.toThrow();
            else expect(go).toThrow(IllegalTransition);
          }
    };
    walk(STEP_TRANSITIONS, STEP_STATUSES, (from, event, to) => assertStepTransition('s', from, event, to));
    walk(SESSION_TRANSITIONS, SESSION_STATUSES, assertSessionTransition);
  });

  test('every open state has a way out, and every state can be reached', () => {
    for (const status of STEP_STATUSES) {
      if (status !== 'pending') expect(STEP_TRANSITIONS.some((row) => row.to === status)).toBe(true);
      expect(STEP_TRANSITIONS.some((row) => row.from.includes(status))).toBe(true);
    }
    for (const status of SESSION_STATUSES) {
      expect(SESSION_TRANSITIONS.some((row) => row.to === status)).toBe(true);
      if (status !== 'completed') expect(SESSION_TRANSITIONS.some((row) => row.from.includes(status))).toBe(true);
    }
  });
});
