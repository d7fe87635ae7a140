// One plan run through, then killed at points that a seed chooses and resumed, and what both did compared.
import { expect } from 'vitest';
import type { PlanEvent } from '../../src/index.js';
import { eventsOf, randomOf, type Ended, type PlanRig } from './plan-rig.js';

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
  /** Something of the world that changes while nobody drives the session; gets the steps that completed before. */
  betweenKillAndResume?: (completed: string[]) => unknown;
  /** Puts that back. */
  afterRound?: () => unknown;
}

let sessions = 0;

/**
 * Runs the scenario once, then until `kills` SIGKILLs came before its end. Checks that each resumed session ends like the
 * straight one, that no step that had ended began again, and that no process is left. The first kill comes in the
 * middle of a step, the others anywhere.
 */
export async function killAndResume(rig: PlanRig, scenario: Scenario, kills: number): Promise<void> {
  const seed = Number(process.env['PLAN_KILL_SEED'] ?? Math.floor(Math.random() * 1e9));
  const random = randomOf(seed);
  const straight = await run(rig, scenario, `straight-${(sessions += 1)}`);
  expect(straight.signal, straight.stderr).toBeNull();
  const wanted = { ended: endOf(straight), result: scenario.result() };
  expect(wanted.ended).toMatchObject({ code: scenario.code ?? 0 });
  const straightEvents = eventsOf(straight.stdout);
  const starts = straightEvents.filter((event) => event.type === 'step_started').length;
  const slow = slowSteps(straightEvents);

  const points: string[] = [];
  let midStep = 0;
  for (let draw = 0; points.length < kills; draw += 1) {
    const session = `killed-${(sessions += 1)}`;
    const kill: Kill =
      points.length === 0
        ? { step: slow[Math.floor(random() * slow.length)] as string, delay: Math.floor(random() * 60) }
        : { nth: 1 + Math.floor(random() * starts), delay: Math.floor(random() * 180) };
    const killed = await run(rig, scenario, session, kill);
    const at = `PLAN_KILL_SEED=${seed}, draw ${draw}: ${kill.delay} ms after the start ${'step' in kill ? `of ${kill.step}` : `${kill.nth} of ${starts}`}`;
    // Behind one of the last starts the session may end first: that was no kill, and another point is drawn.
    if (killed.signal === null && draw < kills * 5) continue;
    expect(killed.signal, at).toBe('SIGKILL');
    // The store knows more than what came through the pipe.
    const eventsBefore = await rig.events(session);
    // Killed between the end of the session and that of its process: nothing is left to go on with, and `plan resume` of a
    // failed session is a retry of its failed steps.
    if (SESSION_ENDS.has(eventsBefore.at(-1)?.type ?? '') && draw < kills * 5) continue;
    const effectsBefore = scenario.effects();
    const running = unendedSteps(eventsBefore);
    midStep += running.length > 0 ? 1 : 0;
    points.push(`${at}, in ${running.join(', ') || 'no step'}`);
    scenario.betweenKillAndResume?.(completedSteps(eventsBefore));

    const resumed = await rig.plan(['resume', session, '--json'], { cwd: '/' });
    expect({ ended: endOf(resumed), result: scenario.result() }, `${at}\n${resumed.stderr}`).toEqual(wanted);
    const events = await rig.events(session);
    expect(begunAgain(events), at).toEqual([]);
    const effects = scenario.effects();
    for (const step of completedSteps(eventsBefore)) expect([step, effects.get(step)], at).toEqual([step, effectsBefore.get(step)]);
    for (const [step, times] of effects) expect([step, times <= startsOf(events, step)], at).toEqual([step, true]);
    expect(rig.leftProcesses(), at).toEqual([]);
    expect(await rig.auditDifferences(session), at).toEqual([]);
    scenario.afterRound?.();
  }
  console.log(points.join('\n'));
  expect(midStep, points.join('\n')).toBeGreaterThan(0);
}

type Kill = ({ step: string } | { nth: number }) & { delay: number };

async function run(rig: PlanRig, scenario: Scenario, session: string, kill?: Kill): Promise<Ended> {
  rig.emptyOut();
  rig.forgetBegun();
  scenario.beforeRun?.();
  let starts = 0;
  return rig.plan(['run', ...scenario.args, '--session', session, '--json'], {
    onLine: (line, end) => {
      if (kill === undefined || !line.includes('"step_started"')) return;
      starts += 1;
      if ('nth' in kill ? starts === kill.nth : (JSON.parse(line) as PlanEvent).step_id === kill.step) setTimeout(end, kill.delay);
    },
  });
}

// How the command ended and what the session gave, without the name of the session.
function endOf({ code, stdout }: Ended): object {
  const result = stdout.split('\n').find((line) => line.startsWith('{"type":"result"')) ?? '{}';
  const { status, outputs } = JSON.parse(result.replace(/(straight|killed)-\d+/g, 'SESSION')) as { status?: string; outputs?: object };
  return { code, status, outputs: outputs ?? {} };
}

// Steps whose first attempt took long enough to be killed in.
function slowSteps(events: readonly PlanEvent[]): string[] {
  const began = new Map<string, number>();
  const slow = new Set<string>();
  for (const { type, step_id: id, at } of events) {
    if (id === undefined) continue;
    if (type === 'step_started') began.set(id, at);
    else if (type === 'step_completed' && at - (began.get(id) as number) >= 140) slow.add(id);
  }
  return [...slow];
}

const SESSION_ENDS = new Set(['session_completed', 'session_failed']);
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
