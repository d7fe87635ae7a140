// Params from a file: a mapping in YAML or JSON.
import { readFile } from 'node:fs/promises';
import { isMap, isScalar, parseDocument } from 'yaml';
import { UsageError } from '../core/error.js';
import type { JsonObject, JsonValue } from '../core/json.js';
import type { Plan } from '../plan/plan.js';
import { oneLine } from './safe-text.js';

/**
 * Reads a params file. A plain scalar keeps its spelling where the plan declares text (3.10 stays "3.10").
 * UsageError `bad_params_file`.
 */
export async function readParamsFile(path: string, params: Plan['params']): Promise<JsonObject> {
  const document = parseDocument(await readText(path), { version: '1.2', schema: 'core', merge: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const place = error.linePos?.[0];
    throw fault(`${path}${place === undefined ? '' : `:${place.line}:${place.col}`}: not YAML or JSON: ${oneLine(error.message.split('\n')[0] as string)}`);
  }
  const { contents } = document;
  if (contents === null) return {};
  if (!isMap(contents)) throw fault(`${path}: expected a mapping of params, such as "env: prod"`);
  const values = Object.create(null) as JsonObject;
  const plain = toJson(() => document.toJS({ maxAliasCount: 1000 }), path);
  for (const [name, value] of Object.entries(plain)) values[name] = value as JsonValue;
  for (const pair of contents.items) {
    const { key, value } = pair;
    if (!isScalar(key) || !isScalar(value)) continue;
    const name = String(key.value);
    const keepsSpelling = Object.hasOwn(params, name) && params[name]?.type === 'string' && (typeof value.value === 'number' || typeof value.value === 'boolean');
    if (keepsSpelling && value.source !== undefined) values[name] = value.source;
  }
  return values;
}

async function readText(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/^\ufeff/, '');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw fault(code === 'ENOENT' ? `there is no file ${path}` : `the file ${path} cannot be read: ${message}`);
  }
}

function toJson(read: () => unknown, path: string): object {
  try {
    return read() as object;
  } catch (error) {
    throw fault(`${path}: ${oneLine((error as Error).message)}`);
  }
}

function fault(message: string): UsageError {
  return new UsageError('bad_params_file', `--params-file: ${message}`);
}
