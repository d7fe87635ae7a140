// Group commit: units of work wait in a queue; whatever queued while the last transaction ran goes into the next one,
// so that one flush to disk serves them all.
//
// Q1. A unit runs whole inside one transaction. Its promise settles only after that transaction ended.
// Q2. A unit may run more than once (after a rollback), so it takes everything from its arguments and the database.
// Q3. A unit that refuses (stale, cancelled, misused) does so before it writes anything, and refuses alone.
// Q4. A unit that breaks for another reason makes the transaction roll back; each unit of it then runs by itself.
// Q5. Units run in the order they were added.
import { CancelRequestedError, StaleEpochError, UsageError } from '../../core/error.js';
import { busyDelay, busyError, type BusyPolicy } from './busy.js';
import { isBusy } from './fault.js';

// Limits of one transaction: it is synchronous and must not hold the event loop for long.
const MOST_UNITS = 512;
const MOST_BYTES = 2 * 1024 * 1024;
const MOST_MS = 20;
// How long after a collision a gap is left between transactions, so that the other process gets in.
const POLITE_MS = 250;

/** What a transaction is, for the queue. */
export interface TransactionPort {
  readonly location: string;
  /** Takes the write lock; throws a busy error when another process has it. */
  begin(): void;
  /** Makes everything durable. */
  commit(): void;
  /** Undoes everything; never throws. */
  rollback(): void;
  /** The error to show for one thrown by a unit or by this port. */
  explain(error: unknown): unknown;
  /** Whether an error leaves no hope for other units: a full disk, a damaged file. */
  isFatal(error: unknown): boolean;
}

interface Unit {
  apply: () => unknown;
  bytes: number;
  added: number;
  alone: boolean;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

export class CommitQueue {
  readonly #port: TransactionPort;
  readonly #busy: BusyPolicy;
  #queue: Unit[] = [];
  #scheduled = false;
  #tries = 0;
  #politeUntil = 0;
  #drained: Array<() => void> = [];

  constructor(port: TransactionPort, busy: BusyPolicy) {
    this.#port = port;
    this.#busy = busy;
  }

  /** Queues a unit; resolves to what `apply` returned, once that is durable. `bytes` says roughly what it writes. */
  add<T>(apply: () => T, bytes: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const added = performance.now();
      this.#queue.push({ apply, bytes, added, alone: false, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing is queued. */
  drain(): Promise<void> {
    if (this.#queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  #schedule(delay = 0): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const flush = () => {
      this.#scheduled = false;
      this.#flush();
    };
    if (delay > 0) setTimeout(flush, delay);
    else if (performance.now() < this.#politeUntil) setTimeout(flush, 1 + this.#busy.random());
    else setImmediate(flush);
  }

  #flush(): void {
    let wait = 0;
    try {
      this.#port.begin();
      this.#tries = 0;
      this.#run();
    } catch (error) {
      if (isBusy(error)) wait = this.#collide(error);
      else this.#settle(this.#queue.splice(0).map((unit) => ({ unit, error: this.#port.explain(error) })));
    }
    if (this.#queue.length > 0) this.#schedule(wait);
    else for (const resolve of this.#drained.splice(0)) resolve();
  }

  /** Gives up units that waited too long; returns how long to wait before the next try. */
  #collide(error: unknown): number {
    const now = performance.now();
    this.#tries += 1;
    this.#politeUntil = now + POLITE_MS;
    const late = this.#queue.filter((unit) => now - unit.added >= this.#busy.timeoutMs);
    if (late.length > 0) {
      this.#queue = this.#queue.filter((unit) => now - unit.added < this.#busy.timeoutMs);
      this.#settle(late.map((unit) => ({ unit, error: busyError(this.#port.location, this.#busy, error) })));
    }
    return busyDelay(this.#tries, this.#busy.random());
  }

  /** One transaction over the front of the queue; the write lock is held already. */
  #run(): void {
    const outcomes: Outcome[] = [];
    const end = performance.now() + MOST_MS;
    let bytes = 0;
    for (const unit of this.#queue) {
      if (outcomes.length > 0 && (unit.alone || bytes + unit.bytes > MOST_BYTES)) break;
      if (outcomes.length >= MOST_UNITS || performance.now() > end) break;
      bytes += unit.bytes;
      try {
        outcomes.push({ unit, value: unit.apply() });
      } catch (error) {
        if (isRefusal(error)) {
          outcomes.push({ unit, error });
          continue;
        }
        this.#breakUp([...outcomes.map((outcome) => outcome.unit), unit], error);
        return;
      }
      if (unit.alone) break;
    }
    try {
      this.#port.commit();
    } catch (error) {
      this.#port.rollback();
      const explained = this.#port.explain(error);
      this.#queue.splice(0, outcomes.length);
      this.#settle(outcomes.map(({ unit }) => ({ unit, error: explained })));
      return;
    }
    this.#queue.splice(0, outcomes.length);
    this.#settle(outcomes);
  }

  /** A unit broke in the middle: nothing of the transaction stands. */
  #breakUp(units: Unit[], error: unknown): void {
    this.#port.rollback();
    if (units.length > 1 && !this.#port.isFatal(error)) {
      for (const unit of units) unit.alone = true;
      return;
    }
    this.#queue.splice(0, units.length);
    this.#settle(units.map((unit) => ({ unit, error: this.#port.explain(error) })));
  }

  #settle(outcomes: Outcome[]): void {
    for (const outcome of outcomes) {
      if ('error' in outcome) outcome.unit.reject(outcome.error);
      else outcome.unit.resolve(outcome.value);
    }
  }
}

type Outcome = { unit: Unit; value: unknown } | { unit: Unit; error: unknown };

function isRefusal(error: unknown): boolean {
  return error instanceof StaleEpochError || error instanceof CancelRequestedError || error instanceof UsageError;
}
