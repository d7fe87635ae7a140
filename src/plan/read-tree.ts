// Walks the YAML nodes beside the schema and makes plain JSON of them. What only the file can show is found here:
// repeated and unknown keys, numbers that would lose their spelling, tags, aliases that grow without bound.
//
// R1. Every mapping becomes an object without prototype, so `toString` is an ordinary key; `__proto__` is refused.
// R2. Scalars at text positions keep the spelling of the source.
// R3. A key with a typing error is read as the key it was meant to be, so that the error is told once.
import { isAlias, isMap, isScalar, isSeq, type Alias, type Node, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { JsonObject, JsonValue } from '../core/json.js';
import { pathText, type PlanPath, type ProblemList } from './problem-list.js';
import { LONE_SURROGATE, readScalar } from './read-scalar.js';
import type { Shape } from './schema-shape.js';
import type { SourceText } from './source-text.js';
import { nearest, quote } from '../core/suggest.js';
import { placeOf, synonymOf } from './synonym.js';
import { entriesOf, resolve, textOf, type Entry } from './yaml-entries.js';
import { MAX_DEPTH, type YamlTree } from './yaml-document.js';
import type { ProblemCode } from './problem-code.js';

/** Nodes, and characters of text, that aliases and merge keys may add to a file. */
const MAX_EXPANSION = 2_000_000;
const MAX_EXPANDED_TEXT = 32 * 1024 * 1024;

/** Keys that were read as another one, by the mapping where they stand: written → meant. */
export type Renames = Map<YAMLMap, Map<string, string>>;

/** Nodes of different kinds that a value may be. */
export type ValueKind = 'object' | 'array' | 'scalar' | 'null';

const ABSENT = Symbol('absent');

export class TreeReader {
  readonly renames: Renames = new Map();
  readonly #tree: YamlTree;
  readonly #source: SourceText;
  readonly #problems: ProblemList;
  readonly #path: Array<string | number> = [];
  readonly #expanding = new Set<Node>();
  /** How many aliases and merged values we are inside of. */
  #copying = 0;
  #expanded = 0;
  #expandedText = 0;
  #bomb = false;

  constructor(tree: YamlTree, source: SourceText, problems: ProblemList) {
    this.#tree = tree;
    this.#source = source;
    this.#problems = problems;
  }

  /** The whole file as JSON; what could not be read is left out, and its place is damaged. */
  read(shape: Shape): JsonValue | undefined {
    const value = this.#read(this.#tree.root, shape, undefined);
    return value === ABSENT ? undefined : (value as JsonValue);
  }

  #read(node: Node | null, shape: Shape, parent: YAMLMap | undefined): JsonValue | typeof ABSENT {
    if (this.#path.length > MAX_DEPTH) return this.#fault(node, 'too_deep', `expected at most ${MAX_DEPTH} levels of nesting, found more`);
    if (this.#bomb) return ABSENT;
    if (this.#copying > 0) this.#grow(node);
    if (this.#bomb) return ABSENT;
    if (node === null) return null;
    if (isAlias(node)) return this.#readAlias(node, shape, parent);
    const tag = (node as Scalar).tag;
    if (tag !== undefined && !CORE_TAGS.has(tag)) return this.#badTag(node, tag);
    if (isMap(node)) return this.#readMap(node, shape);
    if (isSeq(node)) return this.#readSeq(node, shape);
    return this.#readScalar(node as Scalar, shape, parent);
  }

  /** Counts one more copy of a node. */
  #grow(node: Node | null): void {
    this.#expanded += 1;
    if (isScalar(node)) this.#expandedText += textOf(node).length;
    if (this.#bomb || (this.#expanded <= MAX_EXPANSION && this.#expandedText <= MAX_EXPANDED_TEXT)) return;
    this.#bomb = true;
    this.#fault(node, 'alias_bomb', `aliases make this file larger than 2,000,000 values, or ${MAX_EXPANDED_TEXT / 1024 / 1024} MiB of text`);
  }

  #readAlias(alias: Alias, shape: Shape, parent: YAMLMap | undefined): JsonValue | typeof ABSENT {
    const target = this.#tree.target(alias);
    if (target === undefined) return this.#fault(alias, 'unknown_alias', `no anchor &${alias.source} stands before this alias`, quoteHint(alias.source));
    if (this.#expanding.has(target)) return this.#fault(alias, 'alias_cycle', `the alias *${alias.source} stands inside its own anchor`);
    this.#expanding.add(target);
    this.#copying += 1;
    const value = this.#read(target, shape, parent);
    this.#copying -= 1;
    this.#expanding.delete(target);
    return value;
  }

  #readScalar(scalar: Scalar, shape: Shape, parent: YAMLMap | undefined): JsonValue | typeof ABSENT {
    const text = shape.text === 'typed' ? this.#typeBeside(parent) : shape.text;
    const typedNumber = shape.text === 'typed' && !text && this.#numberBeside(parent);
    const read = readScalar(scalar, { text, json: shape.json || (shape.text === 'typed' && !text && !typedNumber), nullable: shape.types?.has('null') ?? false });
    return 'fault' in read ? this.#fault(scalar, read.fault.code, read.fault.message, read.fault.hint) : read.value;
  }

  // `default` and `enum` are text when the param's own type says so.
  #typeBeside(parent: YAMLMap | undefined): boolean {
    return this.#declaredType(parent) === 'string';
  }

  #numberBeside(parent: YAMLMap | undefined): boolean {
    const type = this.#declaredType(parent);
    return type === 'number' || type === 'integer';
  }

  #declaredType(parent: YAMLMap | undefined): string | undefined {
    if (parent === undefined) return undefined;
    const entry = entriesOf(parent, this.#tree).find(({ key }) => key === 'type');
    const node = resolve(entry?.valueNode, this.#tree);
    return isScalar(node) ? textOf(node) : undefined;
  }

  #readSeq(seq: YAMLSeq, shape: Shape): JsonValue | typeof ABSENT {
    const items: JsonValue[] = [];
    const itemShape = shape.items ?? UNKNOWN;
    let complete = true;
    seq.items.forEach((item, index) => {
      this.#path.push(index);
      // A list under `typed` (enum) looks at the type beside the list, not inside it.
      const value = this.#read(item as Node, itemShape, this.#holder);
      this.#path.pop();
      if (value === ABSENT) complete = false;
      else items.push(value);
    });
    // A list with a hole would move its other items.
    return complete ? items : ABSENT;
  }

  #holder: YAMLMap | undefined;

  #readMap(map: YAMLMap, shape: Shape): JsonObject {
    for (const { key } of map.items) if (this.#copying > 0 || isAlias(key)) this.#grow(resolve(key as Node | null, this.#tree));
    const result = Object.create(null) as JsonObject;
    const entries = entriesOf(map, this.#tree, {
      badKey: (_map, pair) => this.#badKey(map, pair.key as Node | null),
      duplicate: (key, second, first) => this.#duplicate(key, second, first),
      badMerge: (node) => void this.#fault(node ?? map, 'bad_merge', 'expected a mapping, or a list of mappings, behind the merge key "<<"'),
    });
    const present = new Set(entries.map(({ key }) => key));
    for (const entry of entries) {
      if (this.#path.length === 0 && shape.ignored?.test(entry.key) === true) continue;
      const key = this.#keyOf(map, entry, shape, present);
      if (key === undefined) continue;
      const before = this.#holder;
      this.#holder = map;
      this.#path.push(key);
      if (entry.merged) {
        this.#grow(entry.keyNode);
        this.#copying += 1;
      }
      const value = this.#read(entry.valueNode, shape.keys?.get(key) ?? shape.values ?? UNKNOWN, map);
      if (entry.merged) this.#copying -= 1;
      this.#path.pop();
      this.#holder = before;
      if (value !== ABSENT) result[key] = value;
    }
    return result;
  }

  /** The key as it was meant; undefined when nothing can be made of it. */
  #keyOf(map: YAMLMap, entry: Entry, shape: Shape, present: ReadonlySet<string>): string | undefined {
    const { key, keyNode } = entry;
    if (key === '__proto__') {
      this.#keyFault(entry, 'reserved_key', '"__proto__" cannot be a key');
      return undefined;
    }
    if (LONE_SURROGATE.test(key)) {
      this.#keyFault(entry, 'lone_surrogate', 'a key cannot hold half of a surrogate pair: no UTF-8 can be made of it');
      return undefined;
    }
    if (shape.keys === undefined || shape.keys.has(key)) return key;
    const synonym = synonymOf(key, placeOf(shape.keys));
    if (synonym !== undefined) return this.#foreignKey(entry, synonym, shape.keys, present);
    const free = [...shape.keys.keys()].filter((known) => !present.has(known));
    const meant = nearest(key, free);
    const fits = meant !== undefined && kindFits(entry.valueNode, shape.keys.get(meant) as Shape, this.#tree);
    if (meant !== undefined && fits) {
      this.#problems.add({ code: 'unknown_key', message: unknownKey(key, this.#path), hint: `did you mean "${meant}"?`, path: [...this.#path, key], ...rangeOf(keyNode) });
      const renames = this.renames.get(map) ?? new Map<string, string>();
      this.renames.set(map, renames.set(key, meant));
      return meant;
    }
    this.#keyFault(entry, 'unknown_key', unknownKey(key, this.#path), meant !== undefined ? `did you mean "${meant}"?` : `keys allowed here: ${[...shape.keys.keys()].join(', ')}`);
    // The key that was meant is not missing as well: one mistake is told once.
    if (meant !== undefined && !present.has(meant)) this.#problems.damage([...this.#path, meant]);
    return undefined;
  }

  /** A key of another tool. */
  #foreignKey(entry: Entry, { key, hint }: { key?: string; hint?: string }, keys: ReadonlyMap<string, Shape>, present: ReadonlySet<string>): undefined {
    const known = key !== undefined && keys.has(key);
    this.#keyFault(entry, 'unknown_key', unknownKey(entry.key, this.#path), hint ?? (known && present.has(key) ? `that is "${key}" here` : `did you mean "${key}"?`));
    if (known && !present.has(key)) this.#problems.damage([...this.#path, key]);
  }

  #keyFault(entry: Entry, code: ProblemCode, message: string, hint?: string): void {
    const path = [...this.#path, entry.key];
    this.#problems.add({ code, message, hint, path, ...rangeOf(entry.keyNode) });
    this.#problems.damage(path);
  }

  #badKey(map: YAMLMap, key: Node | null): void {
    const braces = isMap(key) && this.#source.text.startsWith('{{', rangeOf(map).start);
    const hint = braces ? 'to mean an expression, write ${{ }} in quotes: "${{ … }}"' : undefined;
    this.#fault(key ?? map, 'bad_key', 'expected a key that is text, found nothing, a list or a mapping', hint);
  }

  #duplicate(key: string, second: Node, first: Node): void {
    const inSteps = this.#path.length === 1 && (this.#path[0] === 'steps' || this.#path[0] === 'finally');
    const line = this.#source.positionOf(rangeOf(first).start).line;
    const message = inSteps ? `the step id ${quote(key)} is used twice; first in line ${line}` : `the key ${quote(key)} is repeated; first in line ${line}`;
    this.#problems.add({ code: inSteps ? 'duplicate_id' : 'duplicate_key', message, hint: inSteps ? 'give one of the steps another id' : 'keep one of the two', path: [...this.#path, key], ...rangeOf(second) });
  }

  #badTag(node: Node, tag: string): typeof ABSENT {
    const { start } = rangeOf(node);
    const written = /![^\s,[\]{}]*(?=\s*(?:&\S+\s*)?$)/.exec(this.#source.text.slice(Math.max(0, start - 200), start));
    const at = written === null ? start : Math.max(0, start - 200) + written.index;
    const name = written?.[0] ?? tag;
    const hint = /^![^!]/.test(name) ? 'put quotes around a text that begins with "!", or ${{ }} around an expression' : 'remove the tag';
    this.#problems.add({ code: 'unknown_tag', message: `expected no YAML tag, found ${quote(name)}`, hint, path: [...this.#path], start: at, end: at + name.length });
    this.#problems.damage(this.#path);
    return ABSENT;
  }

  #fault(node: Node | null, code: ProblemCode, message: string, hint?: string): typeof ABSENT {
    this.#problems.add({ code, message, hint, path: [...this.#path], ...rangeOf(node) });
    this.#problems.damage(this.#path);
    return ABSENT;
  }
}

const CORE_TAGS = new Set(['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`)).add('!');

// Below a key that the schema does not know: nothing is said about it.
const UNKNOWN: Shape = { text: false, json: false, types: undefined, keys: undefined, values: undefined, items: undefined, ignored: undefined };

function unknownKey(key: string, path: PlanPath): string {
  return `unknown key ${quote(key)}${path.length === 0 ? '' : ` in ${pathText(path)}`}`;
}

const quoteHint = (name: string) => `to mean the text, put quotes: "*${name}"`;

function kindFits(node: Node | null, shape: Shape, tree: YamlTree): boolean {
  if (shape.types === undefined) return true;
  const value = resolve(node, tree);
  if (isMap(value)) return shape.types.has('object');
  if (isSeq(value)) return shape.types.has('array');
  if (value === null || (isScalar(value) && value.value === null)) return shape.types.has('null');
  if (shape.text !== false) return shape.types.has('string');
  return isScalar(value) && [...shape.types].some((type) => type === typeof value.value || (type === 'integer' && typeof value.value === 'number'));
}

/** Offsets of a node, at least one character wide. */
export function rangeOf(node: Node | null | undefined): { start: number; end: number } {
  const start = node?.range?.[0] ?? 0;
  return { start, end: Math.max(node?.range?.[1] ?? 0, start + 1) };
}
