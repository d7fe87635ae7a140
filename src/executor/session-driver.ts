// Drives one session under one lease to its next stop: its end, a wait that is too long, a spent budget, an interrupt.
//
// D1. A step is begun only by `#launch`, at most `concurrency` at once, and only while nothing asked for a stop.
// D2. `#running` holds every step between its launch and the record of its end; the driver leaves only when it is empty.
// D3. It leaves only when all processes that it started are ended, those included that left the group of their step.
// D4. A stored cancel is obeyed however the driver is about to leave: it looks for one last time before it does, and
//     the commit of another end is refused by the store. Only a driver that was told twice to stop leaves it stored.
// D5. After the store failed or the lease was lost nothing more is begun or recorded; what runs is ended.
import { startsProcess } from '../actions/call-module.js';
import type { AbortCause } from '../actions/action.js';
import type { CommitReason } from '../core/event.js';
import type { CancelRequest, TerminalSessionStatus } from '../core/session-state.js';
import { isTerminal } from '../core/step-state.js';
import { FrontierIndex } from '../graph/frontier-index.js';
import { liesBefore } from '../graph/plan-shape.js';
import type { StepSpec } from '../plan/plan.js';
import { Bell } from './bell.js';
import type { DriverOptions } from './driver-options.js';
import { rootCause } from './ending.js';
import { Orders } from './orders.js';
import { runStep } from './run-step.js';
import type { SessionRecord } from './session-record.js';
import { endSession, leaveInterrupted, leavePaused, recordWait, resultOf } from './leave-session.js';
import type { SessionResult } from './session-handle.js';
import { StepRoom } from './step-room.js';
import { stepCancelled, stepSkipped, type StepChange } from './step-change.js';
import { setTimer, wokenStep } from './step-timers.js';
import { TimerQueue } from './timer-queue.js';

// A key that no step id can be: step ids have no spaces.
const SESSION_DEADLINE = ' deadline';

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
  #budgetSpent = false;
  readonly #orders: Orders;
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
    this.#orders = new Orders(ending === 'cancelled');
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
    if (!this.#orders.stop()) return;
    this.#abortRunning({ kind: 'interrupted' });
    this.#bell.ring();
  }

  kill(): void {
    this.stop();
    this.#o.hurry.abort();
  }

  /**
   * A cancel is stored: cancel what has not ended, then run `finally` (unless it runs already: then end that too).
   * Asked again while `finally` runs, that is ended.
   */
  cancel(request: CancelRequest): void {
    if (this.#failure !== undefined || this.#o.hurry.signal.aborted) return;
    const { actor, reason } = this.#orders.cancel(request, this.#frontier.phase === 'finally') ?? {};
    if (actor !== undefined && reason !== undefined) this.#abandon('cancelled', { kind: 'cancelled', actor, reason }, `cancelled by ${actor}: ${reason}`);
  }

  /** The session is lost, or its store failed. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#abortRunning({ kind: 'lease_lost' });
    this.#bell.ring();
  }

  async #turn(): Promise<SessionResult | undefined> {
    if (this.#orders.stopping) {
      if (this.#running.size > 0) return undefined;
      if (await this.#endedProcesses()) return undefined;
      await this.#o.run.lookForCancel();
      const cancel = this.#o.hurry.signal.aborted ? undefined : this.#orders.goOn();
      if (cancel === undefined) return leaveInterrupted(this.#record, this.#createdAt);
      this.cancel(cancel);
    }
    this.#takeDue();
    this.#startReady();
    if (this.#running.size > 0) return undefined;
    const ended = this.#frontier.phase === 'ended';
    if (!ended && !this.#budgetSpent) return this.#wait();
    if (await this.#endedProcesses()) return undefined;
    const { source, masker } = this.#o.run.sending;
    return this.#unlessCancelled(await (ended ? endSession(this.#o.plan, this.#record, source, masker, this.#now()) : leavePaused(this.#record, this.#createdAt)));
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
        if (this.#frontier.phase === 'main') this.#abandon('expired', { kind: 'session_timeout', limit_ms: this.#o.plan.timeout ?? 0 }, 'the deadline of the session passed');
        continue;
      }
      const state = this.#record.state(key);
      const spec = this.#specs.get(key) as StepSpec;
      if (state.status === 'retry_wait') this.#due.push(key);
      else if (state.status === 'waiting_timer') this.#end(wokenStep(spec, state, { steady: this.#now(), wall: this.#o.clock.now() }));
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
    if (!this.#orders.stopping) this.#frontier.changed(change.step_id);
  }

  // A step has ended: saved now, or with its layer.
  #end(change: StepChange): void {
    const wakes = this.#record.session.status !== 'running' && change.type === 'step_completed';
    if (this.#o.plan.checkpoint_interval === 'per_layer' && !this.#orders.stopping) this.#record.hold(change);
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
    const isOpen = (step: StepSpec) => (finallyToo || !step.finally) && !this.#running.has(step.id) && !isTerminal(this.#record.state(step.id));
    const open = this.#o.plan.steps.filter(isOpen);
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
    const { key, at } = first;
    await recordWait(this.#record, key === SESSION_DEADLINE ? undefined : key, at);
    const tooLong = at - this.#now() > (this.#o.maxWaitMs ?? Infinity);
    if (!tooLong || (await this.#endedProcesses())) return undefined;
    await this.#o.run.lookForCancel();
    return this.#bell.rung ? undefined : resultOf(this.#record, { interrupted: false, wake_at: at }, this.#createdAt);
  }

  // No result: the store refused the end, because a cancel is stored.
  async #unlessCancelled(result: SessionResult | undefined): Promise<SessionResult | undefined> {
    if (result === undefined) await this.#o.run.lookForCancel();
    return result;
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
