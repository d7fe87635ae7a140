// How many steps of a session may run at once: as its plan says, and not more than this process can open files for.
import { startsProcess } from '../actions/call-module.js';
import type { JsonObject } from '../core/json.js';
import type { Plan, StepKind } from '../plan/plan.js';
import { openFiles, type OpenFiles } from '../process/open-files.js';

// The most that one attempt has open for long: for a command two pipes (two descriptors each), its log and the end of it.
const FILES_OF_COMMAND = 6;
const FILES: { [kind in StepKind]?: number } = { http: 3, call: 2 };

export class StepRoom {
  readonly #concurrency: number;
  readonly #each: number;
  readonly #files: OpenFiles;
  readonly #onLimit: (data: JsonObject) => void;
  readonly #stop: () => void;
  #told: boolean;

  /**
   * @param onRoom called when there may be more, also by what another session of this process gave back
   * @param onLimit called once, when as many run as files allow and the plan would have more; gets what to tell of that
   */
  constructor(plan: Plan, onRoom: () => void, onLimit: (data: JsonObject) => void, files: OpenFiles = openFiles()) {
    this.#onLimit = onLimit;
    this.#concurrency = plan.concurrency;
    this.#each = Math.max(1, ...new Set(plan.steps.map((step) => (startsProcess(step) ? FILES_OF_COMMAND : (FILES[step.action.kind] ?? 1)))));
    this.#files = files;
    this.#told = plan.steps.length <= files.most(this.#each);
    this.#stop = files.onGiven(onRoom);
  }

  /** How many more may begin while `running` of this session run; one always may where none does. */
  left(running: number): number {
    const files = Math.max(running === 0 ? 1 : 0, this.#files.room(this.#each));
    return Math.max(0, Math.min(this.#concurrency - running, files));
  }

  /** A step begins; `running` of this session run now, it included. */
  begin(running: number): void {
    this.#files.take(this.#each);
    if (this.#told || running >= this.#concurrency || running < this.#files.most(this.#each)) return;
    this.#told = true;
    this.#onLimit({ concurrency: this.#concurrency, at_once: running, open_files: this.#files.limit });
  }

  end(): void {
    this.#files.give(this.#each);
  }

  close(): void {
    this.#stop();
  }
}
