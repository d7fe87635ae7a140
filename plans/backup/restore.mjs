// FILE → SCRATCH/restored.db, read in full.
import { appendFileSync, createReadStream, createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import Database from 'better-sqlite3';
import { tablesOf } from './tables.mjs';

const { FILE, SCRATCH, PLAN_OUTPUT } = process.env;
mkdirSync(SCRATCH, { recursive: true });
const restored = join(SCRATCH, 'restored.db');
await pipeline(createReadStream(FILE), createGunzip(), createWriteStream(restored));
const database = new Database(restored, { readonly: true, fileMustExist: true });
const integrity = database.pragma('integrity_check', { simple: true });
const { rows, sha256 } = tablesOf(database);
database.close();
appendFileSync(PLAN_OUTPUT, `${JSON.stringify({ integrity, sha256, rows })}\n`);
console.log(`${restored}: ${integrity}, ${JSON.stringify(rows)}`);
