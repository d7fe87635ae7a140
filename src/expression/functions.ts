// The functions and methods that expressions have. Everything else is an unknown name.
//
// Numbers are JSON numbers, of one kind, so whole numbers and decimals mix everywhere: `1 == 1.0`, `params.n * 1.5`.
// A division is exact whatever is divided: `10 / 4` is 2.5, `int(10 / 4)` is 2. By zero it is an error. Whole numbers are exact to
// 9007199254740991; arithmetic that would leave that range is an error, not a near value.
//
// From CEL: size(x), int(x), double(x), string(x), bool(x), has(path), x in list, and the macros all, exists, exists_one,
// filter, map; of text: contains, startsWith, endsWith, matches, indexOf, lastIndexOf, substring, split, trim; times:
// timestamp(text), duration(text), getFullYear() and so on. `matches` takes RE2 syntax and is linear in the text.
//
// Beyond CEL:
//   default(path, value)        the value at the path, or `value` when it is absent (null is there, not absent)
//   toJson(value)               JSON text
//   fromJson(text)              the value of a JSON text
//   join(list, separator)       one text; numbers and booleans as JSON writes them. Also list.join(separator)
//   lower(text), upper(text)    letters changed
//   replace(text, from, to)     every `from` replaced; no pattern

/** Functions by name, with the number of arguments they take. */
export const FUNCTIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ['has', [1]],
  ['default', [2]],
  ['size', [1]],
  ['int', [1]],
  ['double', [1]],
  ['string', [1]],
  ['bool', [1]],
  ['bytes', [1]],
  ['type', [1]],
  ['dyn', [1]],
  ['timestamp', [1]],
  ['duration', [1]],
  ['toJson', [1]],
  ['fromJson', [1]],
  ['join', [2]],
  ['lower', [1]],
  ['upper', [1]],
  ['replace', [3]],
]);

const TIMES = ['getFullYear', 'getMonth', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear', 'getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'];

/** Macros: their first argument names a variable for the others. */
export const MACROS: ReadonlyMap<string, readonly number[]> = new Map([
  ['map', [2, 3]],
  ['filter', [2]],
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
]);

/** Methods by name, with the number of arguments they take. */
export const METHODS: ReadonlyMap<string, readonly number[]> = new Map([
  ...MACROS,
  ['size', [0]],
  ['contains', [1]],
  ['startsWith', [1]],
  ['endsWith', [1]],
  ['matches', [1]],
  ['indexOf', [1, 2]],
  ['lastIndexOf', [1, 2]],
  ['substring', [1, 2]],
  ['split', [1, 2]],
  ['trim', [0]],
  ['lowerAscii', [0]],
  ['upperAscii', [0]],
  ['join', [0, 1]],
  ['orValue', [1]],
  ['or', [1]],
  ['hasValue', [0]],
  ['value', [0]],
  ['hex', [0]],
  ['base64', [0]],
  ...TIMES.map((name): [string, number[]] => [name, [0, 1]]),
]);

/** What the library gives as an integer of its own, which becomes a number at once. */
export const COUNTING_FUNCTIONS: ReadonlySet<string> = new Set(['size', 'int']);
export const COUNTING_METHODS: ReadonlySet<string> = new Set(['size', 'indexOf', 'lastIndexOf', ...TIMES]);

/** Names of types, for `type(x) == string`. */
export const TYPE_NAMES: ReadonlySet<string> = new Set(['string', 'double', 'bool', 'list', 'map', 'null_type', 'bytes']);
