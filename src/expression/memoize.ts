// Remembers what a pure function of a text gave, for the texts asked about last.
const MOST = 20_000;

/** Errors are not remembered: they are rare, and the text is asked about once. */
export function memoize<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = compute(text);
    if (known.size >= MOST) known.clear();
    known.set(text, value);
    return value;
  };
}
