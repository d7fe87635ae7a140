// @ts-check
// JavaScript, not TypeScript: the process of a `call` module (actions/module-host.js) uses it as it is.

/**
 * Where a value stops being JSON, as a path such as `$.a[2]`; undefined when it is JSON all through.
 * Refuses what JSON.stringify would change in silence (undefined, NaN, dates, class instances) and cycles.
 * @param {unknown} value
 * @returns {{ path: string, found: string } | undefined}
 */
export function findNonJson(value) {
  /** @type {Array<{ value: unknown, path: string, depth: number } | { leave: object }>} */
  const stack = [{ value, path: '$', depth: 0 }];
  /** Objects that the current one is inside of, with their paths. @type {Map<object, string>} */
  const around = new Map();
  let objects = 0;
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    if ('leave' in entry) {
      around.delete(entry.leave);
      continue;
    }
    const { value: item, path, depth } = entry;
    if (item === null || typeof item === 'string' || typeof item === 'boolean') continue;
    if (typeof item === 'number') {
      if (Number.isFinite(item)) continue;
      return { path, found: String(item) };
    }
    if (typeof item !== 'object') return { path, found: typeof item };
    const outer = around.get(item);
    if (outer !== undefined) return { path, found: `the object at ${outer} again (a cycle)` };
    if (depth > 200) return { path, found: 'nested deeper than 200 levels' };
    objects += 1;
    if (objects > 1_000_000) return { path, found: 'beyond a million objects' };
    const list = Array.isArray(item);
    if (!list) {
      const prototype = Object.getPrototypeOf(item);
      if (prototype !== Object.prototype && prototype !== null) return { path, found: nameOfClass(item) };
    }
    around.set(item, path);
    stack.push({ leave: item });
    if (list) for (let i = 0; i < item.length; i += 1) stack.push({ value: item[i], path: `${path}[${i}]`, depth: depth + 1 });
    else for (const [key, member] of Object.entries(item)) stack.push({ value: member, path: `${path}.${key}`, depth: depth + 1 });
  }
  return undefined;
}

/** @param {object} item */
function nameOfClass(item) {
  const name = /** @type {{ constructor?: { name?: unknown } }} */ (item).constructor?.name;
  return typeof name === 'string' && name !== '' ? name : 'an object of a class';
}
