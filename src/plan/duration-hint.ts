// What is meant by a duration that is written another way.

const UNITS: ReadonlyArray<[RegExp, string]> = [
  [/^(?:ms|msecs?|millis|milliseconds?)$/, 'ms'],
  [/^(?:s|secs?|seconds?)$/, 's'],
  [/^(?:m|mins?|minutes?)$/, 'm'],
  [/^(?:h|hrs?|hours?)$/, 'h'],
  [/^(?:d|days?)$/, 'd'],
  [/^(?:w|weeks?)$/, 'w'],
];

/** How to write the duration that a text seems to mean; undefined when it seems to mean none. */
export function durationHint(text: string): string | undefined {
  const written = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(written)) return `write a unit: ${written}s, ${written}m…`;
  const iso = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i.exec(written);
  const clock = /^(\d+):([0-5]\d)(?::([0-5]\d))?$/.exec(written);
  const parts = iso !== null ? partsOf(iso.slice(1), 'dhms') : clock !== null ? partsOf(clock.slice(1), clock[3] === undefined ? 'ms' : 'hms') : wordsOf(written);
  return parts === undefined || parts === '' ? undefined : `write ${parts}`;
}

function partsOf(numbers: readonly (string | undefined)[], units: string): string {
  return numbers.map((number, i) => (number === undefined || Number(number) === 0 ? '' : `${Number(number)}${units[i] as string}`)).join('');
}

function wordsOf(text: string): string | undefined {
  const found = [...text.matchAll(/(\d+(?:\.\d+)?)\s*([A-Za-z]+)(?:\s*(?:,|and)?\s*)/g)];
  if (found.map(([whole]) => whole).join('') !== text) return undefined;
  const parts = found.map(([, number, unit]) => {
    const known = UNITS.find(([pattern]) => pattern.test((unit as string).toLowerCase()));
    return known === undefined ? undefined : `${number as string}${known[1]}`;
  });
  return parts.includes(undefined) ? undefined : parts.join('');
}
