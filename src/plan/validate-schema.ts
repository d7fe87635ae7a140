// The schema check: ajv over the tree that the reader made, its errors told as problems. What does not fit is taken
// out of the tree (and its place noted as damaged), so that the checks after this one see only the right shapes.
import type { ErrorObject } from 'ajv';
import type { JsonObject, JsonValue } from '../core/json.js';
import { planValidator } from './plan-validator.js';
import type { PlanPath, ProblemList } from './problem-list.js';
import type { SchemaNode } from './schema-shape.js';
import type { SourceMap } from './source-map.js';
import { listOf, nearest, quote } from '../core/suggest.js';
import { durationHint } from './duration-hint.js';
import { VALUE_TYPES } from './plan.js';
import type { ProblemCode } from './problem-code.js';
import { valueSynonym } from './synonym.js';

/** Checks `tree` against the plan schema; adds problems, removes what does not fit. */
export function validateSchema(tree: JsonObject, problems: ProblemList, map: SourceMap): void {
  const validate = planValidator();
  if (validate(tree)) return;
  // Paths are found before anything is taken out: the items of a list would have moved.
  const errors = (validate.errors ?? []).map((error) => ({ error, path: pathOf(error.instancePath, tree) }));
  for (const { error, path } of errors) {
    if (error.keyword === 'type' && problems.isBroken(path)) {
      // What could not be read was told; what is left of it says nothing.
      takeOut(tree, path);
      continue;
    }
    const told = translate(error, path, problems, map);
    if (told === undefined) continue;
    const { finding, at } = told;
    problems.add({ ...finding, ...(at === 'key' ? map.keyRange(finding.path) : map.shortRange(finding.path)) });
    const damaged = told.damaged ?? finding.path;
    problems.damage(damaged);
    takeOut(tree, damaged);
  }
}

const OF_VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'pattern', 'minimum', 'maximum', 'minLength', 'minItems', 'maxLength']);

interface Told {
  finding: { code: ProblemCode; message: string; hint?: string; path: PlanPath };
  at: 'key' | 'value';
  /** What does not fit, when that is not the place itself. */
  damaged?: PlanPath;
}

function translate(error: ErrorObject, path: PlanPath, problems: ProblemList, map: SourceMap): Told | undefined {
  // What the branches of a choice say is told once, by the choice; a name is told by `propertyNames`.
  if (/\/(oneOf|not)\/.*/.test(error.schemaPath) && error.keyword !== 'oneOf' && error.keyword !== 'not') return undefined;
  if (error.propertyName !== undefined || error.keyword === 'if') return undefined;
  // One value, one problem.
  if (OF_VALUES.has(error.keyword) && problems.isBroken(path)) return undefined;
  const found = describe(error.data, map, path);
  const schema = error.parentSchema as SchemaNode;
  const params = error.params as { [name: string]: unknown };
  const value = (code: ProblemCode, message: string, hint?: string): Told => ({ finding: { code: (schema['x-code'] as ProblemCode | undefined) ?? code, message, ...(hint === undefined ? {} : { hint }), path }, at: 'value' });
  const expected = schema['x-expected'];
  switch (error.keyword) {
    case 'type':
      return value('wrong_type', `expected ${expected ?? (schema.enum === undefined ? undefined : listOf(schema.enum)) ?? typeNames(schema.type)}, found ${found}`, hintForType(schema, error.data, path));
    case 'const':
      return value('bad_value', `expected ${expected ?? String(params['allowedValue'])}, found ${found}`, 'this program knows version 1 of the plan language; use a newer one for others');
    case 'enum': {
      const allowed = params['allowedValues'] as string[];
      const meant = typeof error.data === 'string' ? (valueSynonym(error.data, allowed) ?? nearest(error.data, allowed)) : undefined;
      return value('bad_value', `expected ${listOf(allowed)}, found ${found}`, meant === undefined ? undefined : `did you mean "${meant}"?`);
    }
    case 'pattern':
      return value('bad_value', `expected ${expected ?? 'another text'}, found ${found}`, hintForValue(schema, error.data));
    case 'minimum':
    case 'maximum':
      return value('bad_value', `expected a number ${error.keyword === 'minimum' ? 'from' : 'up to'} ${String(params['limit'])}, found ${found}`);
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      // What was in it may have been taken out.
      return problems.isTouched(path) ? undefined : value('empty', `expected at least one ${error.keyword === 'minLength' ? 'character' : 'entry'}, found none`);
    case 'maxLength':
    case 'maxProperties':
      return value('too_large', `expected at most ${String(params['limit'])} ${error.keyword === 'maxLength' ? 'characters' : 'entries'}`);
    case 'required':
      if (problems.isBroken([...path, String(params['missingProperty'])])) return undefined;
      return missing([String(params['missingProperty'])], path);
    case 'oneOf':
      return choice(schema.oneOf ?? [], error.data as JsonObject, path, problems);
    case 'not': {
      const keys = schema.not?.required ?? [];
      if (error.data === null || typeof error.data !== 'object' || Array.isArray(error.data)) return undefined; // told by its type
      return conflict(keys, path);
    }
    case 'propertyNames': {
      const names = schema.propertyNames as SchemaNode;
      const name = String(params['propertyName']);
      return { finding: { code: (names['x-code'] as ProblemCode | undefined) ?? 'bad_name', message: `expected ${names['x-expected'] ?? 'another name'}, found ${quote(name)}`, ...nameHint(names, name), path: [...path, name] }, at: 'key', damaged: [] };
    }
    default:
      return value('bad_value', `${error.message ?? error.keyword}, found ${found}`);
  }
}

// `my step` → `my_step`
function nameHint(names: SchemaNode, name: string): { hint?: string } {
  const meant = name.normalize('NFD').replace(/[^\w-]+/g, '_').replace(/^_+|_+$/g, '').replace(/^(?=[\d-])/, '_').slice(0, 100);
  const written = names.pattern?.includes('_-]') === true ? meant : meant.replaceAll('-', '_');
  return written !== name && new RegExp(names.pattern ?? '').test(written) ? { hint: `write ${written}` } : {};
}

// `required` and a choice with nothing chosen look at the mapping: its key is shown, and all of it is damaged.
function missing(keys: string[], path: PlanPath): Told {
  const one = keys.length === 1;
  return {
    finding: { code: one ? 'missing_key' : path[0] === 'steps' || path[0] === 'finally' ? (path.length === 2 ? 'missing_kind' : 'missing_key') : 'missing_key', message: one ? `the key "${keys[0] as string}" is missing` : `expected exactly one of ${listOf(keys)}, found none`, ...(keys[0] === 'plan' && path.length === 0 ? { hint: 'write "plan: 1" on top' } : {}), path },
    at: 'key',
    ...(path.length === 0 ? { damaged: [keys[0] as string] } : {}),
  };
}

function conflict(keys: string[], path: PlanPath): Told {
  const second = keys[keys.length - 1] as string;
  return {
    finding: { code: 'conflicting_keys', message: `expected only one of ${listOf(keys)}, found ${keys.length === 2 ? 'both' : 'several'}`, hint: 'keep one of them', path: [...path, second] },
    at: 'key',
  };
}

function choice(branches: readonly SchemaNode[], data: JsonObject, path: PlanPath, problems: ProblemList): Told | undefined {
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return undefined; // told by its type
  const keys = branches.map((branch) => branch.required?.[0] as string);
  const present = Object.keys(data).filter((key) => keys.includes(key));
  if (present.length > 1) return conflict(present, path);
  // A key that was not understood may have been the one.
  return problems.isTouched(path) ? undefined : missing(keys, path);
}

// JSON pointer to path; numbers for the items of lists.
function pathOf(pointer: string, tree: JsonObject): Array<string | number> {
  const path: Array<string | number> = [];
  let value: JsonValue | undefined = tree;
  for (const part of pointer.split('/').slice(1)) {
    const key: string = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(key) : key);
    value = (value as JsonObject | undefined)?.[key];
  }
  return path;
}

// Takes a misfit out of the tree: a named thing stays as an empty one, so that its name is still known; of a list all
// goes, since its other items would move.
function takeOut(tree: JsonObject, path: PlanPath): void {
  if (path.length === 0) return;
  const [section] = path;
  if (path.length === 2 && (section === 'steps' || section === 'finally' || section === 'params' || section === 'env')) {
    const named = tree[section];
    if (named !== null && typeof named === 'object' && !Array.isArray(named)) named[path[1] as string] = section === 'env' ? null : (Object.create(null) as JsonObject);
    return;
  }
  let end = path.length - 1;
  while (end > 0 && typeof path[end] === 'number') end -= 1;
  let holder: JsonValue | undefined = tree;
  for (const part of path.slice(0, end)) holder = (holder as JsonObject | undefined)?.[part as string];
  if (holder !== null && typeof holder === 'object') delete (holder as JsonObject)[path[end] as string];
}

const TYPE_NAMES: { [type: string]: string } = { string: 'text', integer: 'a whole number', number: 'a number', boolean: 'true or false', array: 'a list', object: 'a mapping', null: 'nothing' };

function typeNames(type: string | string[] | undefined): string {
  return listOf([type ?? []].flat().map((name) => TYPE_NAMES[name] ?? name));
}

/** What a value is, for a message. With its place, a number that is read as text is still told as a number. */
export function describe(value: unknown, map?: SourceMap, path: PlanPath = []): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  if (typeof value === 'string' && NUMBER.test(value) && map?.isPlain(path) === true) return `the number ${value}`;
  if (typeof value === 'string') return value === '' ? 'an empty text' : `the text ${quote(value)}`;
  return typeof value === 'number' ? `the number ${value}` : String(value);
}

const NUMBER = /^-?\d+(\.\d+)?$/;

/** How to write what is meant, where something of another type stands. */
function hintForType(schema: SchemaNode, value: unknown, path: PlanPath): string | undefined {
  const types = [schema.type ?? []].flat();
  const key = path.findLast((part) => typeof part === 'string');
  const scalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const form = schema['x-form'];
  if (types.includes('object') && form !== undefined && key !== undefined) {
    const shown = scalar && value !== '' && String(value).length <= 60 ? formOf(form, value) : form.replace('VALUE', '…');
    return `write ${key}: ${shown}`;
  }
  if (types.length === 1 && types[0] === 'array' && value !== null && value !== '') {
    const items = scalar ? [value] : typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
    if (items.length > 0 && items.length <= 5) return `write a list: [${items.join(', ')}]`;
  }
  if (scalar && typeof value === 'string' && (types.includes('number') || types.includes('integer')) && NUMBER.test(value)) return `without quotes: ${value}`;
  if (typeof value === 'string' && types.includes('boolean') && /^(?:true|false)$/.test(value)) return `without quotes: ${value}`;
  return hintForValue(schema, value);
}

function formOf(form: string, value: string | number | boolean): string {
  const text = String(value);
  if (form.includes('for: VALUE')) {
    if (/^\d{4}-\d{2}/.test(text)) return `{ until: ${text} }`;
    if (NUMBER.test(text)) return form.replace('VALUE', () => `${text}s`);
  }
  // A type that other tools know by another name.
  const written = form === '{ type: VALUE }' ? (valueSynonym(text, VALUE_TYPES) ?? text) : text;
  return form.replace('VALUE', () => (typeof value === 'string' && /[:#{}[\],&*!|>'"%@`]\s?|^\s|\s$/.test(written) && !/^[\w./:#?=&-]+$/.test(written) ? JSON.stringify(written) : written));
}

function hintForValue(schema: SchemaNode, value: unknown): string | undefined {
  if (schema['x-code'] === 'bad_duration' && typeof value === 'string') return value.includes('${{') ? 'a limit is fixed: no expression can stand here' : durationHint(value);
  const types = [schema.type ?? []].flat();
  if (types.includes('boolean') && typeof value === 'string' && /^(yes|no|on|off|y|n)$/i.test(value)) return 'YAML 1.2 has only true and false';
  return undefined;
}
