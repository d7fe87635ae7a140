// What is known of the log of one attempt.

/** What a step wrote: total bytes, and how many of them the log keeps. */
export interface LogSummary {
  bytes: number;
  kept: number;
  truncated: boolean;
  /** True when the log holds bytes that are not UTF-8 (kept as they came). */
  binary: boolean;
}
