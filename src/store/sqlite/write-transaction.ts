// One SQLite transaction over the units of a commit queue.
import type { Database } from 'better-sqlite3';
import { StoreError } from '../../core/error.js';
import type { TransactionPort } from './commit-queue.js';
import { asStoreError } from './fault.js';
import type { FileWatch } from './file-watch.js';
import type { LogKeeper } from './log-keeper.js';
import { DamagedRow } from './rows.js';
import type { SessionWriter } from './session-writer.js';
import type { Statements } from './statements.js';

export class WriteTransaction implements TransactionPort {
  readonly location: string;
  readonly #db: Database;
  readonly #sql: Statements;
  readonly #writer: SessionWriter;
  readonly #log: LogKeeper | undefined;
  readonly #files: FileWatch | undefined;

  constructor(db: Database, sql: Statements, writer: SessionWriter, location: string, log: LogKeeper | undefined, files: FileWatch | undefined) {
    this.location = location;
    this.#db = db;
    this.#sql = sql;
    this.#writer = writer;
    this.#log = log;
    this.#files = files;
  }

  begin(): void {
    this.#files?.check();
    this.#sql.begin.run();
  }

  commit(): void {
    this.#writer.saveHeads();
    this.#sql.commit.run();
    this.#writer.forgetHeads();
    this.#log?.touch();
  }

  rollback(): void {
    this.#writer.forgetHeads();
    try {
      // SQLite undid it already for some errors, a full disk among them.
      if (this.#db.inTransaction) this.#sql.rollback.run();
    } catch {
      // What led here is the error to show; the next BEGIN says when the connection is unusable.
    }
  }

  explain(error: unknown): unknown {
    return asStoreError(error, this.location);
  }

  isFatal(error: unknown): boolean {
    // One damaged row harms the session it belongs to, not those whose units wait beside it.
    if (error instanceof DamagedRow) return false;
    const explained = this.explain(error);
    return explained instanceof StoreError && ['full', 'corrupt', 'read_only', 'busy', 'gone'].includes(explained.fault);
  }
}
