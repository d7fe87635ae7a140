// PlanExecutor: the library's way to run plans. It holds no session itself; every drive is its own.
import { standardActions } from '../actions/standard-actions.js';
import type { AnyAction, FunctionTable, PlanFunction } from '../actions/action.js';
import { createRegistry, type ActionRegistry } from '../actions/registry.js';
import { systemClock, type Clock } from '../core/clock.js';
import { UsageError } from '../core/error.js';
import { newSessionId } from '../core/id.js';
import { isTerminalSession } from '../core/session-state.js';
import type { LoadedPlan } from '../plan/load.js';
import type { Store, StoredSession } from '../store/store.js';
import { driveSession, resultOfStored, type DriveHost } from './drive-session.js';
import { isHeld } from './lease-keeper.js';
import { createSession, takeOverSession, type OpenSession, type TakeOptions } from './open-session.js';
import type {
  CancelOptions,
  CancelResult,
  DriveOptions,
  ResumeOptions,
  RetryOptions,
  RunOptions,
  SessionHandle,
  SessionResult,
} from './session-handle.js';
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
   * The handle's result rejects with UsageError (bad session id, session exists, bad params, missing functions or secrets) before
   * anything runs, with StoreError when the store refuses, with StaleEpochError when another process took the session.
   */
  run(loaded: LoadedPlan, options: RunOptions = {}): SessionHandle {
    const sessionId = options.sessionId ?? newSessionId(this.#host.clock.now());
    return this.#start(sessionId, options, () => createSession(this.#host, loaded, sessionId, options.params ?? {}));
  }

  /** Goes on with a session: finished steps stay, interrupted ones run again, a failed session's failed steps too. */
  resume(sessionId: string, options: ResumeOptions = {}): SessionHandle {
    const take: TakeOptions = { mode: 'resume', ...(options.addBudget?.attempts === undefined ? {} : { addAttempts: options.addBudget.attempts }) };
    return this.#start(sessionId, options, () => takeOverSession(this.#host, sessionId, take));
  }

  /** Runs failed or named steps of an ended session, and what depends on them, in a new generation. */
  retry(sessionId: string, options: RetryOptions = {}): SessionHandle {
    const take: TakeOptions = {
      mode: 'retry',
      ...(options.from === undefined ? {} : { from: options.from }),
      ...(options.actor === undefined ? {} : { actor: options.actor }),
    };
    return this.#start(sessionId, options, () => takeOverSession(this.#host, sessionId, take));
  }

  /**
   * Stores a cancel. A living driver obeys it within moments (`requested`); where nobody drives the session, it is
   * driven to its end here, `finally` steps included (`ended`).
   */
  async cancel(sessionId: string, options: CancelOptions & DriveOptions): Promise<CancelResult> {
    const { store, clock } = this.#host;
    const stored = await store.getSession(sessionId);
    if (stored === undefined) throw new UsageError('unknown_session', `there is no session "${sessionId}" in ${store.location}; to see the sessions there: plan list`);
    if (isTerminalSession(stored.state.status)) {
      throw new UsageError('session_ended', `session ${sessionId} is ${stored.state.status}: there is nothing to cancel`);
    }
    await store.requestCancel(sessionId, { requested_at: clock.now(), actor: options.actor, reason: options.reason });
    const lease = (await store.getSession(sessionId))?.lease;
    if (lease !== undefined && isHeld(lease, clock.now())) {
      return { outcome: 'requested', status: stored.state.status };
    }
    const handle = this.#start(sessionId, options, () => takeOverSession(this.#host, sessionId, { mode: 'cancel' }));
    return { outcome: 'ended', status: (await handle.result).status };
  }

  #start(sessionId: string, options: DriveOptions, open: () => Promise<OpenSession | StoredSession>): SessionHandle {
    return new Drive(this.#host.store, sessionId, options, async (drive): Promise<SessionResult> => {
      const session = await open();
      if (!('shape' in session)) return resultOfStored(session, this.#host);
      return driveSession(this.#host, session, options, drive);
    });
  }
}
