// Drives one session under one lease to its next stop: its end, a wait that is too long, a spent budget, an interrupt.
//
// D1. A step is begun only by `#launch`, at most `concurrency` at once, and only while nothing asked for a stop.
// D2. `#running` holds every step between its launch and the record of its end; the driver leaves only when it is empty.
// D3. It leaves only when all processes that it started are ended, those included that left the group of their step.
// D4. After the store failed or the lease was lost nothing more is begun or recorded; what runs is ended.
import { startsProcess } from '../actions/call-module.js';
import type { AbortCause } from '../actions/action.js';
import type { Clock } from '../core/clock.js';
import type { CommitReason } from '../core/event.js';
import type { CancelRequest, TerminalSessionStatus } from '../core/session-state.js';
import { isTerminal } from '../core/step-state.js';
import { FrontierIndex } from '../graph/frontier-index.js';
import { liesBefore, type PlanShape } from '../graph/plan-shape.js';
import type { Plan, StepSpec } from '../plan/plan.js';
import { Bell } from './bell.js';
import { rootCause } from './ending.js';
import { runStep, type StepRunContext } from './run-step.js';
import type { SessionRecord } from './session-record.js';
import { endSession, leaveSession, recordWait, resultOf } from './leave-session.js';
import type { SessionResult } from './session-handle.js';
import { StepRoom } from './step-room.js';
import { stepCancelled, stepCompleted, stepFailed, stepSkipped, type StepChange } from './step-change.js';
import { hasArrived, setTimer } from './step-timers.js';
import { TimerQueue } from './timer-queue.js';

// A key that no step id can be: step ids have no spaces.
const SESSION_DEADLINE = ' deadline';

export interface DriverOptions {
  plan: Plan;
  shape: PlanShape;
  record: SessionRecord;
  run: StepRunContext;
  clock: Clock;
  maxWaitMs: number | undefined;
  /** Aborted by the driver when what runs must end without grace. */
  hurry: AbortController;
  /** Ends whatever processes of this session still run, those that left their group included. */
  endProcesses: () => Promise<void>;
}

export class SessionDriver {
  readonly #o: DriverOptions;
  readonly #record: SessionRecord;
  readonly #frontier: FrontierIndex;
  readonly #specs: Map<string, StepSpec>;
  readonly #room: StepRoom;
  readonly #running = new Map<string, AbortController>();
  readonly #timers: TimerQueue;
  /** Steps whose retry time has come. */
  readonly #due: string[] = [];
  #stopping = false;
  #budgetSpent = false;
  #cancelSeen = false;
  #ranProcess = false;
  #failure: Error | undefined;
  #savedLayer = '';
  readonly #bell = new Bell();

  constructor(options: DriverOptions) {
    this.#o = options;
    this.#record = options.record;
    this.#specs = new Map(options.plan.steps.map((step) => [step.id, step]));
    this.#room = new StepRoom(options.plan, () => this.#bell.ring(), (data) => this.#hand(this.#record.write('step_start', [{ type: 'concurrency_limited', data }])));
    this.#timers = new TimerQueue(options.clock, options.run.sending.now, () => this.#bell.ring());
    this.#frontier = new FrontierIndex(options.shape, (id) => this.#record.state(id));
    for (const [id, state] of this.#record.touched()) {
      const spec = this.#specs.get(id);
      if (spec !== undefined) setTimer(this.#timers, spec, state, this.#now());
    }
    const { deadline_at: deadline, ending } = this.#record.session;
    if (deadline !== undefined && ending === undefined) this.#timers.set(SESSION_DEADLINE, deadline);
    this.#cancelSeen = ending === 'cancelled';
  }

  async drive(): Promise<SessionResult> {
    try {
      this.#goOnEnding();
      for (;;) {
        this.#bell.reset();
        if (this.#failure !== undefined) throw this.#failure;
        const result = await this.#turn();
        if (result !== undefined) return result;
        this.#timers.arm();
        await this.#bell.wait();
      }
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
      while (this.#running.size > 0) await this.#bell.wait();
      // What led here is the error to show.
      await this.#endedProcesses().catch(() => undefined);
      throw error;
    } finally {
      this.#room.close();
      this.#timers.disarm();
    }
  }

  /** Ctrl-C: start nothing more, end what runs, save, leave the session resumable. */
  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#abortRunning({ kind: 'interrupted' });
    this.#bell.ring();
  }

  kill(): void {
    this.stop();
    this.#o.hurry.abort();
  }

  /** A cancel is stored: cancel what has not ended, then run `finally` (unless it runs already: then end that too). */
  cancel(request: CancelRequest): void {
    if (this.#cancelSeen || this.#stopping || this.#failure !== undefined) return;
    this.#cancelSeen = true;
    this.#abandon('cancelled', { kind: 'cancelled', actor: request.actor, reason: request.reason }, `cancelled by ${request.actor}: ${request.reason}`);
  }

  /** The session is lost, or its store failed. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#abortRunning({ kind: 'lease_lost' });
    this.#bell.ring();
  }

  async #turn(): Promise<SessionResult | undefined> {
    if (!this.#stopping) {
      this.#takeDue();
      this.#startReady();
    }
    if (this.#running.size > 0) return undefined;
    const why = this.#stopping ? 'interrupted' : this.#frontier.phase === 'ended' ? 'ended' : this.#budgetSpent ? 'budget' : undefined;
    if (why === undefined) return this.#wait();
    if (await this.#endedProcesses()) return undefined;
    if (why !== 'ended') return leaveSession(this.#record, this.#createdAt, why);
    const { source, masker } = this.#o.run.sending;
    return endSession(this.#o.plan, this.#record, source, masker, this.#now());
  }

  // Before every way to leave the session. True when there may have been something to end: that takes time, in which
  // anything may have happened, so the turn is begun again.
  async #endedProcesses(): Promise<boolean> {
    if (!this.#ranProcess) return false;
    this.#ranProcess = false;
    this.#bell.ring();
    await this.#o.endProcesses();
    return true;
  }

  #takeDue(): void {
    for (const key of this.#timers.takeDue()) {
      if (key === SESSION_DEADLINE) {
        const limit = this.#o.plan.timeout ?? 0;
        if (this.#frontier.phase === 'main') this.#abandon('expired', { kind: 'session_timeout', limit_ms: limit }, 'the deadline of the session passed');
        continue;
      }
      const state = this.#record.state(key);
      const spec = this.#specs.get(key) as StepSpec;
      if (state.status === 'retry_wait') this.#due.push(key);
      else if (state.status === 'waiting_timer') {
        if (hasArrived(spec, state.wake_at, { steady: this.#now(), wall: this.#o.clock.now() })) this.#end(stepCompleted(key, state, { in: 'row', value: { outputs: {}, result: null } }, undefined, this.#now()));
        else this.#end(stepFailed(spec, state, { class: 'timeout', code: 'step_timeout', message: `the wait would end after the timeout of the step` }, undefined, this.#now()));
      }
    }
  }

  #startReady(): void {
    for (;;) {
      this.#decideEnding();
      this.#flushLayers();
      while (this.#due.length > 0 && this.#room.left(this.#running.size) > 0 && !this.#budgetSpent) this.#launch(this.#due.shift() as string);
      const answer = this.#frontier.ask(this.#budgetSpent ? 0 : this.#room.left(this.#running.size));
      for (const id of answer.start) this.#launch(id);
      if (answer.skip.length === 0) return;
      const changes = answer.skip.map(({ id, reason }) => stepSkipped(id, this.#record.state(id), reason, undefined, this.#now()));
      if (this.#o.plan.checkpoint_interval === 'per_layer') for (const change of changes) this.#record.hold(change);
      else this.#hand(this.#record.write('step_end', changes));
      for (const { id } of answer.skip) this.#frontier.changed(id);
    }
  }

  // Before the first `finally` step starts, how the steps ended is decided and stored.
  #decideEnding(): void {
    if (this.#frontier.phase !== 'finally' || this.#record.session.ending !== undefined) return;
    this.#timers.delete(SESSION_DEADLINE);
    const ending: TerminalSessionStatus = rootCause(this.#o.plan.steps, (id) => this.#record.state(id), 'main') === undefined ? 'completed' : 'failed';
    this.#hand(this.#record.flush('layer_end'));
    this.#hand(this.#record.write('step_end', [{ type: 'session_ending', session: { ending } }]));
  }

  // With per_layer: endings are saved when the lowest unended layer moves past theirs.
  #flushLayers(): void {
    const { phase, layer } = this.#frontier;
    const place = `${phase} ${layer}`;
    if (this.#o.plan.checkpoint_interval !== 'per_layer' || place === this.#savedLayer) return;
    this.#savedLayer = place;
    this.#hand(this.#record.flush('layer_end', (change) => liesBefore(this.#o.shape, change.step_id, phase, layer)));
  }

  #launch(id: string): void {
    const spec = this.#specs.get(id) as StepSpec;
    const controller = new AbortController();
    this.#running.set(id, controller);
    this.#room.begin(this.#running.size);
    if (startsProcess(spec)) this.#ranProcess = true;
    void this.#runToEnd(spec, controller);
  }

  async #runToEnd(spec: StepSpec, controller: AbortController): Promise<void> {
    try {
      const turn = await runStep(this.#o.run, spec, controller);
      if (this.#failure !== undefined) return;
      if (turn.kind === 'budget_spent') this.#budgetSpent = true;
      else if (turn.kind === 'change') this.#recordTurn(turn.change, turn.reason);
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#running.delete(spec.id);
      this.#room.end();
      this.#bell.ring();
    }
  }

  #recordTurn(change: StepChange, reason: CommitReason): void {
    if (reason === 'step_end') return this.#end(change);
    // A wait is saved at once; so must be the ends that it builds on, which eager scheduling may still hold.
    if (this.#o.plan.scheduling === 'eager') this.#hand(this.#record.flush(reason));
    this.#hand(this.#record.write(reason, [change]));
    setTimer(this.#timers, this.#specs.get(change.step_id) as StepSpec, change.step, this.#now());
    if (!this.#stopping) this.#frontier.changed(change.step_id);
  }

  // A step has ended: saved now, or with its layer.
  #end(change: StepChange): void {
    const wakes = this.#record.session.status !== 'running' && change.type === 'step_completed';
    if (this.#o.plan.checkpoint_interval === 'per_layer' && !this.#stopping) this.#record.hold(change);
    else this.#hand(this.#record.write('step_end', [wakes ? { ...change, session: { status: 'running' } } : change]));
    this.#frontier.changed(change.step_id);
  }

  // A driver died between the decision to end and the end: what it was ending is pending again, and must not run.
  #goOnEnding(): void {
    const { ending } = this.#record.session;
    if (this.#frontier.phase !== 'main' || (ending !== 'cancelled' && ending !== 'expired')) return;
    this.#abandon(ending, { kind: 'interrupted' }, ending === 'cancelled' ? 'the session was cancelled' : 'the deadline of the session passed');
  }

  #abandon(ending: 'cancelled' | 'expired', cause: AbortCause, why: string): void {
    const finallyToo = this.#frontier.phase === 'finally';
    this.#timers.delete(SESSION_DEADLINE);
    this.#due.length = 0;
    const open = this.#o.plan.steps.filter(
      (step) => (finallyToo || !step.finally) && !this.#running.has(step.id) && !isTerminal(this.#record.state(step.id)),
    );
    const changes = open.map((step) => stepCancelled(step.id, this.#record.state(step.id), why, undefined, this.#now()));
    this.#hand(this.#record.flush('cancel'));
    this.#hand(this.#record.write('cancel', [{ type: 'session_ending', session: { ending }, data: { why } }, ...changes]));
    for (const { id } of open) {
      this.#timers.delete(id);
      this.#frontier.changed(id);
    }
    this.#abortRunning(cause);
    this.#bell.ring();
  }

  // Nothing runs, something will: wait for it here, or leave when it is too far away.
  async #wait(): Promise<SessionResult | undefined> {
    const { first } = this.#timers;
    if (first === undefined) {
      throw new Error(`session ${this.#record.sessionId} cannot go on: nothing runs, nothing waits, and not every step has ended`);
    }
    const { key, at: next } = first;
    await recordWait(this.#record, key === SESSION_DEADLINE ? undefined : key, next);
    const { maxWaitMs } = this.#o;
    const tooLong = maxWaitMs !== undefined && next - this.#now() > maxWaitMs && !this.#bell.rung;
    if (!tooLong || (await this.#endedProcesses())) return undefined;
    return resultOf(this.#record, { interrupted: false, wake_at: next }, this.#createdAt);
  }

  #abortRunning(cause: AbortCause): void {
    for (const controller of this.#running.values()) if (!controller.signal.aborted) controller.abort(cause);
  }

  // Writes land in order; the first that fails ends the drive.
  #hand(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.fail(error instanceof Error ? error : new Error(String(error))));
  }

  get #createdAt(): number {
    return this.#o.run.sending.source.start.created_at;
  }

  #now(): number {
    return this.#o.run.sending.now();
  }
}
