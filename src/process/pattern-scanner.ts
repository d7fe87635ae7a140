// Finds many byte patterns in a stream of bytes in one pass (Aho and Corasick's automaton).
//
// P1. After every byte the state is the longest suffix of the input that begins some pattern; its length says how
//     far back a match that is not complete yet can begin. What lies before that is decided.
// P2. All occurrences count, also those that overlap: a byte is covered when any pattern covers it.

/** A half-open range of covered bytes. */
export interface Range {
  start: number;
  end: number;
}

export class PatternScanner {
  readonly #root = new Int32Array(256);
  readonly #child: Int32Array;
  readonly #sibling: Int32Array;
  readonly #byte: Uint8Array;
  readonly #fail: Int32Array;
  /** Length of the text that a node stands for. */
  readonly depth: Int32Array;
  /** Length of the longest pattern that ends where a node ends; 0 for none. */
  readonly #longest: Int32Array;
  #size = 1;

  constructor(patterns: readonly Uint8Array[]) {
    const room = 1 + patterns.reduce((sum, pattern) => sum + pattern.length, 0);
    this.#child = new Int32Array(room);
    this.#sibling = new Int32Array(room);
    this.#byte = new Uint8Array(room);
    this.#fail = new Int32Array(room);
    this.depth = new Int32Array(room);
    this.#longest = new Int32Array(room);
    for (const pattern of patterns) this.#add(pattern);
    this.#link();
  }

  /**
   * Reads `bytes` from `from` on, beginning in `state` (0 at the start of the input). Adds covered ranges to `ranges`,
   * which stays sorted; ranges that touch become one. Returns the state after the last byte.
   */
  scan(bytes: Uint8Array, from: number, state: number, ranges: Range[]): number {
    const root = this.#root;
    let node = state;
    for (let i = from; i < bytes.length; i += 1) {
      const byte = bytes[i] as number;
      node = node === 0 ? (root[byte] as number) : this.#next(node, byte);
      const length = this.#longest[node] as number;
      if (length > 0) cover(ranges, i + 1 - length, i + 1);
    }
    return node;
  }

  #add(pattern: Uint8Array): void {
    let node = 0;
    for (const byte of pattern) {
      let next = this.#childOf(node, byte);
      if (next === 0) {
        next = this.#size;
        this.#size += 1;
        this.#byte[next] = byte;
        this.depth[next] = (this.depth[node] as number) + 1;
        if (node === 0) this.#root[byte] = next;
        else {
          this.#sibling[next] = this.#child[node] as number;
          this.#child[node] = next;
        }
      }
      node = next;
    }
    this.#longest[node] = pattern.length;
  }

  #childOf(node: number, byte: number): number {
    if (node === 0) return this.#root[byte] as number;
    let child = this.#child[node] as number;
    while (child !== 0 && this.#byte[child] !== byte) child = this.#sibling[child] as number;
    return child;
  }

  #next(node: number, byte: number): number {
    let at = node;
    for (;;) {
      const child = this.#childOf(at, byte);
      if (child !== 0 || at === 0) return child;
      at = this.#fail[at] as number;
    }
  }

  // Breadth first, so that the failure link of a node leads to one that is complete already.
  #link(): void {
    const queue = new Int32Array(this.#size);
    let end = 0;
    for (const first of this.#root) if (first !== 0) queue[end++] = first;
    for (let head = 0; head < end; head += 1) {
      const node = queue[head] as number;
      const fail = this.#fail[node] as number;
      if (this.#longest[node] === 0) this.#longest[node] = this.#longest[fail] as number;
      for (let child = this.#child[node] as number; child !== 0; child = this.#sibling[child] as number) {
        this.#fail[child] = this.#next(fail, this.#byte[child] as number);
        queue[end++] = child;
      }
    }
  }
}

// Ranges arrive by growing end, so only the last ones can be touched by a new one.
function cover(ranges: Range[], from: number, end: number): void {
  let start = from;
  for (let last = ranges.at(-1); last !== undefined && last.end >= start; last = ranges.at(-1)) {
    if (last.start < start) start = last.start;
    ranges.pop();
  }
  ranges.push({ start, end });
}
