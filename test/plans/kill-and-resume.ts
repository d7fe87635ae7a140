// One plan run through, then killed at points that a seed chooses and resumed, and what both did compared.
import { mkdirSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import type { PlanEvent } from '../../src/index.js';
import { eventsOf, PlanRig, randomOf } from './plan-rig.js';

export interface Scenario {
  /** Arguments of `plan run`, without the session id. */
  args: string[];
  /** What the run left in the world, in a form that must be equal after every way to get there. */
  result: () => unknown;
  /** How often each step did what it does outside, counted by somebody else; steps not in it are not compared. */
  effects: () => Map<string, number>;
  /** Exit code of the straight run; default 0. */
  code?: number;
  /** Called before each run, for counters to begin again. */
  beforeRun?: () => unknown;
  /** Something of the world that changes while nobody drives the session. */
  betweenKillAndResume?: () => unknown;
  /** Puts that back. */
  afterRound?: () => unknown;
}

let sessions = 0;

/**
 * Runs the scenario once, then `rounds` times with a SIGKILL in it. Checks that each resumed session ends like the
 * straight one, that no step that had ended began again, and that no process is left.
 */
export async function killAndResume(rig: PlanRig, scenario: Scenario, rounds: number): Promise<void> {
  const seed = Number(process.env['PLAN_KILL_SEED'] ?? Math.floor(Math.random() * 1e9));
  const random = randomOf(seed);
  const straight = await run(rig, scenario, `straight-${(sessions += 1)}`);
  expect(straight.ended, straight.ended.stderr).toMatchObject({ code: scenario.code ?? 0, signal: null });
  const starts = straight.events.filter((event) => event.type === 'step_started').length;
  const wanted = { code: scenario.code ?? 0, shown: straight.shown, result: scenario.result() };

  const points: string[] = [];
  let midStep = 0;
  for (let round = 0; round < rounds; round += 1) {
    const session = `killed-${(sessions += 1)}`;
    // Never right behind the last start, where the session may end first.
    const nth = 1 + Math.floor(random() * Math.max(1, starts - 1));
    const delay = Math.floor(random() * 180);
    const killed = await run(rig, scenario, session, { nth, delay });
    const at = `PLAN_KILL_SEED=${seed}, round ${round}: ${delay} ms after start ${nth} of ${starts}`;
    expect(killed.ended.signal, at).toBe('SIGKILL');
    const running = unendedSteps(killed.events);
    midStep += running.length > 0 ? 1 : 0;
    points.push(`${at}, in ${running.join(', ') || 'no step'}`);
    const effectsBefore = scenario.effects();
    scenario.betweenKillAndResume?.();

    const resumed = await rig.plan(['resume', session, '--json'], { cwd: '/' });
    expect(resumed.code, `${at}\n${resumed.stderr}`).toBe(wanted.code);
    const events = await rig.events(session);
    expect(begunAgain(events), at).toEqual([]);
    const effects = scenario.effects();
    for (const step of completedSteps(killed.events)) expect([step, effects.get(step)], at).toEqual([step, effectsBefore.get(step)]);
    for (const [step, times] of effects) expect([step, times <= startsOf(events, step)], at).toEqual([step, true]);
    expect({ code: resumed.code, shown: summary(await rig.show(session)), result: scenario.result() }, at).toEqual(wanted);
    expect(rig.leftProcesses(), at).toEqual([]);
    scenario.afterRound?.();
    const audit = await rig.plan(['audit', session]);
    expect(audit.code, `${at}\n${audit.stdout}${audit.stderr}`).toBe(0);
  }
  console.log(points.join('\n'));
  expect(midStep, points.join('\n')).toBeGreaterThan(0);
}

interface Kill {
  nth: number;
  delay: number;
}

async function run(rig: PlanRig, scenario: Scenario, session: string, kill?: Kill) {
  rmSync(rig.out, { recursive: true, force: true });
  mkdirSync(rig.out);
  rig.forgetBegun();
  scenario.beforeRun?.();
  let starts = 0;
  const ended = await rig.plan(['run', ...scenario.args, '--session', session, '--json'], {
    onLine: (line, end) => {
      if (kill === undefined || !line.includes('"step_started"')) return;
      starts += 1;
      if (starts === kill.nth) setTimeout(end, kill.delay);
    },
  });
  // Of a killed command the store knows more than what came through the pipe.
  const events = kill === undefined ? eventsOf(ended.stdout) : await rig.events(session);
  return { ended, events, shown: kill === undefined ? summary(await rig.show(session)) : undefined };
}

// The part of what `plan show` says that must not depend on how the session got there.
function summary({ status, outputs }: { status: string; outputs?: { [name: string]: unknown } }) {
  return JSON.parse(JSON.stringify({ status, outputs: outputs ?? {} }).replace(/(straight|killed)-\d+/g, 'SESSION')) as object;
}

const ENDS = new Set(['step_completed', 'step_failed', 'step_skipped', 'step_cancelled']);

function completedSteps(events: readonly PlanEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'step_completed' ? [event.step_id as string] : []));
}

function startsOf(events: readonly PlanEvent[], step: string): number {
  return events.filter((event) => event.type === 'step_started' && event.step_id === step).length;
}

function unendedSteps(events: readonly PlanEvent[]): string[] {
  const open = new Set<string>();
  for (const { type, step_id: id } of events) {
    if (id === undefined) continue;
    if (type === 'step_started') open.add(id);
    else if (ENDS.has(type) || type === 'step_retry_scheduled' || type === 'step_waiting') open.delete(id);
  }
  return [...open];
}

// Steps that began, or ended, after they had ended.
function begunAgain(events: readonly PlanEvent[]): string[] {
  const ended = new Set<string>();
  const again: string[] = [];
  for (const { type, step_id: id, seq } of events) {
    if (id === undefined) continue;
    if (ended.has(id)) again.push(`${seq} ${type} ${id}`);
    if (ENDS.has(type)) ended.add(id);
  }
  return again;
}
