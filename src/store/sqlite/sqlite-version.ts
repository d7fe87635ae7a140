// Which SQLite libraries may write a store.

/**
 * Why a SQLite library must not be used, or undefined when it may.
 * Every release from 3.7.0 on could damage a database in WAL mode when two connections wrote and checkpointed at the
 * same moment; repaired in 3.51.3, and before that in 3.50.7 and 3.44.6 of their own lines. 3.52.0 was withdrawn.
 * @param version what `sqlite_version()` of the loaded library says, such as `3.53.2`
 */
export function unsafeSqlite(version: string): string | undefined {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const number = major * 1_000_000 + minor * 1000 + patch;
  if (number === 3_052_000) return 'this release was withdrawn';
  if (number >= 3_051_003) return undefined;
  if (major === 3 && minor === 50 && patch >= 7) return undefined;
  if (major === 3 && minor === 44 && patch >= 6) return undefined;
  return 'it can damage a database that two processes write (the WAL-reset fault); 3.51.3 or newer is needed';
}
