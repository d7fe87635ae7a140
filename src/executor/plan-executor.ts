// PlanExecutor: the library's way to run plans. It holds no session itself; every drive is its own.
import { standardActions } from '../actions/standard-actions.js';
import type { AnyAction, FunctionTable, PlanFunction } from '../actions/action.js';
import { createRegistry, type ActionRegistry } from '../actions/registry.js';
import { systemClock, type Clock } from '../core/clock.js';
import { newSessionId } from '../core/id.js';
import type { LoadedPlan } from '../plan/load.js';
import type { Store, StoredSession } from '../store/store.js';
import { cancelSession } from './cancel-session.js';
import { driveSession, resultOfStored, type DriveHost } from './drive-session.js';
import { checkCancelOptions, checkLoaded, checkOptions, checkSessionArgument, faultOfCall } from './check-call.js';
import { createSession, takeOverSession, type OpenSession, type TakeOptions } from './open-session.js';
import type { CancelOptions, CancelResult, DriveOptions, ResumeOptions, RetryOptions, RunOptions, SessionHandle, SessionResult } from './session-handle.js';
import { Drive } from './drive.js';

export interface PlanExecutorOptions {
  store: Store;
  /** Default: the machine's clock. */
  clock?: Clock;
  /** Step kinds beside the standard ones; one of the same kind replaces it. */
  actions?: readonly AnyAction[];
  /** Functions that `call` steps may name. */
  functions?: { readonly [name: string]: PlanFunction };
  /** Where secrets come from. Default: the process's environment variables. */
  secrets?: (name: string) => string | undefined;
  /** Where `env` and the base environment of commands take the host's variables from. Default: the process's environment. */
  hostEnv?: { readonly [name: string]: string | undefined };
  /** A number in [0, 1) for retry jitter. Default: Math.random. */
  random?: () => number;
}

export class PlanExecutor {
  readonly #host: DriveHost;

  constructor(options: PlanExecutorOptions) {
    const env = options.hostEnv ?? process.env;
    const functions: FunctionTable = new Map(Object.entries(options.functions ?? {}));
    const registry: ActionRegistry = createRegistry([...standardActions(), ...(options.actions ?? [])]);
    this.#host = {
      store: options.store,
      clock: options.clock ?? systemClock,
      secret: options.secrets ?? ((name) => process.env[name]),
      env,
      registry,
      functions,
      random: options.random ?? Math.random,
    };
  }

  /**
   * Starts a new session of a plan.
   * The handle's result rejects with UsageError (bad session id, session exists, bad params, missing functions or secrets, a
   * secret in what would be stored) before
   * anything runs, with StoreError when the store refuses, with StaleEpochError when another process took the session.
   */
  run(loaded: LoadedPlan, options: RunOptions = {}): SessionHandle {
    const fault = faultOfCall(() => {
      checkLoaded(loaded);
      checkOptions('run', options);
    });
    if (fault !== undefined) return this.#refuse(fault);
    const sessionId = options.sessionId ?? newSessionId(this.#host.clock.now());
    return this.#start(sessionId, options, () => createSession(this.#host, loaded, sessionId, options.params ?? {}));
  }

  /** Goes on with a session: finished steps stay, interrupted ones run again, a failed session's failed steps too. */
  resume(sessionId: string, options: ResumeOptions = {}): SessionHandle {
    const fault = faultOfCall(() => {
      checkSessionArgument('resume', sessionId);
      checkOptions('resume', options);
    });
    if (fault !== undefined) return this.#refuse(fault);
    const take: TakeOptions = { mode: 'resume', ...(options.addBudget?.attempts === undefined ? {} : { addAttempts: options.addBudget.attempts }) };
    return this.#start(sessionId, options, () => takeOverSession(this.#host, sessionId, take));
  }

  /** Runs failed or named steps of an ended session, and what depends on them, in a new generation. */
  retry(sessionId: string, options: RetryOptions = {}): SessionHandle {
    const fault = faultOfCall(() => {
      checkSessionArgument('retry', sessionId);
      checkOptions('retry', options);
    });
    if (fault !== undefined) return this.#refuse(fault);
    const take: TakeOptions = {
      mode: 'retry',
      ...(options.from === undefined ? {} : { from: options.from }),
      ...(options.actor === undefined ? {} : { actor: options.actor }),
    };
    return this.#start(sessionId, options, () => takeOverSession(this.#host, sessionId, take));
  }

  /**
   * Stores a cancel. A living driver obeys it within moments (`requested`, or `ended` when that was quick); where nobody
   * drives the session, or its driver leaves before it answers, it is driven to its end here, `finally` steps included
   * (`ended`). Asked again while the `finally` steps of a cancelled session run, those are ended too.
   * UsageError `unknown_session`, `session_ended`.
   */
  async cancel(sessionId: string, options: CancelOptions & DriveOptions): Promise<CancelResult> {
    checkSessionArgument('cancel', sessionId);
    checkCancelOptions(options);
    const request = { requested_at: this.#host.clock.now(), actor: options.actor, reason: options.reason };
    const takeOver = () => this.#start(sessionId, options, () => takeOverSession(this.#host, sessionId, { mode: 'cancel' })).result;
    return cancelSession(this.#host, sessionId, request, takeOver);
  }

  // A call that makes no sense is told where every other fault is: by the result.
  #refuse(fault: Error): SessionHandle {
    return new Drive(this.#host.store, '', {}, () => Promise.reject(fault));
  }

  #start(sessionId: string, options: DriveOptions, open: () => Promise<OpenSession | StoredSession>): SessionHandle {
    return new Drive(this.#host.store, sessionId, options, async (drive): Promise<SessionResult> => {
      const session = await open();
      if (!('shape' in session)) return resultOfStored(session, this.#host);
      return driveSession(this.#host, session, options, drive);
    });
  }
}
