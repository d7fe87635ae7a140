// Remembers what a pure function of a text gave, for the texts asked about last.

/** Two generations of at most `most` texts: what was not asked for during a whole generation is forgotten. Errors are not kept. */
export function memoize<T extends object>(compute: (text: string) => T, most = 4000): (text: string) => T {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  return (text) => {
    let value = young.get(text);
    if (value !== undefined) return value;
    value = old.get(text) ?? compute(text);
    if (young.size >= most) [old, young] = [young, new Map<string, T>()];
    young.set(text, value);
    return value;
  };
}
