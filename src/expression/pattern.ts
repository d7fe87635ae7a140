// Patterns in RE2 syntax: no look-around and no back-references, and so no pattern that takes more than linear time.
import { RE2JS } from 're2js';
import { memoize } from './memoize.js';

const LONGEST_PATTERN = 1000;

/** Compiles a pattern. Throws Error that says what is wrong with it. */
export const compilePattern: (pattern: string) => RE2JS = memoize((pattern) => {
  if (pattern.length > LONGEST_PATTERN) throw new Error(`a pattern may have at most ${LONGEST_PATTERN} characters, this one has ${pattern.length}`);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp:\s*/, '') : String(error);
    throw new Error(`${JSON.stringify(pattern)} is no pattern in RE2 syntax (which has no look-around and no back-references): ${reason}`, { cause: error });
  }
}, 500);

/** Whether the pattern matches somewhere in the text. */
export function matchesPattern(text: string, pattern: string): boolean {
  return compilePattern(pattern).matcher(text).find();
}
