// What both sides of the comparison compute: rows by table, and a digest over every value of every row.
import { createHash } from 'node:crypto';

/** @param {import('better-sqlite3').Database} database */
export function tablesOf(database) {
  const digest = createHash('sha256');
  const rows = {};
  const tables = database.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name").pluck().all();
  for (const table of tables) {
    const quoted = `"${table.replaceAll('"', '""')}"`;
    rows[table] = 0;
    for (const row of database.prepare(`select * from ${quoted} order by 1`).raw().safeIntegers().iterate()) {
      rows[table] += 1;
      digest.update(JSON.stringify([table, ...row.map((cell) => (typeof cell === 'bigint' ? `${cell}` : Buffer.isBuffer(cell) ? cell.toString('base64') : cell))]));
    }
  }
  return { rows, sha256: digest.digest('hex') };
}
