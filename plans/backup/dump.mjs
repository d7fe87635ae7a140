// DATABASE → FILE: a consistent copy, gzipped. The copy is read before it is packed, to have something to compare with.
import { appendFileSync, createReadStream, createWriteStream, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import Database from 'better-sqlite3';
import { tablesOf } from './tables.mjs';

const { DATABASE, FILE, PLAN_OUTPUT } = process.env;
const copy = `${FILE}.copy`;
const part = `${FILE}.part`;
mkdirSync(dirname(FILE), { recursive: true });
rmSync(copy, { force: true }); // of an attempt that was killed

const source = new Database(DATABASE, { readonly: true, fileMustExist: true });
await source.backup(copy);
source.close();

const database = new Database(copy, { readonly: true });
const { rows, sha256 } = tablesOf(database);
database.close();

await pipeline(createReadStream(copy), createGzip(), createWriteStream(part, { flush: true }));
renameSync(part, FILE);
rmSync(copy);
appendFileSync(PLAN_OUTPUT, `${JSON.stringify({ bytes: statSync(FILE).size, sha256, rows })}\n`);
console.log(`${FILE}: ${JSON.stringify(rows)}`);
