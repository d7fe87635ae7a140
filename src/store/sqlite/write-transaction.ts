// One SQLite transaction over the units of a commit queue.
import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { StoreError } from '../../core/error.js';
import type { TransactionPort } from './commit-queue.js';
import { asStoreError } from './fault.js';
import type { LogKeeper } from './log-keeper.js';
import { MEMORY } from './open-database.js';
import type { SessionWriter } from './session-writer.js';
import type { Statements } from './statements.js';

export class WriteTransaction implements TransactionPort {
  readonly location: string;
  readonly #db: Database;
  readonly #sql: Statements;
  readonly #writer: SessionWriter;
  readonly #log: LogKeeper | undefined;
  readonly #inode: bigint | undefined;

  constructor(db: Database, sql: Statements, writer: SessionWriter, location: string, log: LogKeeper | undefined) {
    this.location = location;
    this.#db = db;
    this.#sql = sql;
    this.#writer = writer;
    this.#log = log;
    this.#inode = location === MEMORY ? undefined : inodeOf(location);
  }

  begin(): void {
    // SQLite goes on writing to a deleted file without a word; such a commit would be lost.
    if (this.location !== MEMORY && inodeOf(this.location) !== this.#inode) {
      throw new StoreError('io', `store ${this.location}: the file was deleted or replaced while it was open; resume from what is there now`);
    }
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
    const explained = this.explain(error);
    return explained instanceof StoreError && ['full', 'corrupt', 'read_only', 'busy'].includes(explained.fault);
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
