// From a place in the plan (`steps`, `build`, `needs`, 0) back to the file. Indexes of mappings are made when they
// are first asked for: a file without problems pays nothing.
import { isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from 'yaml';
import type { PlanPath } from './problem-list.js';
import { rangeOf, type Renames } from './read-tree.js';
import type { SourceText } from './source-text.js';
import { entriesOf, resolve, type Entry } from './yaml-entries.js';
import type { YamlTree } from './yaml-document.js';

export interface Range {
  start: number;
  end: number;
}

export class SourceMap {
  readonly #tree: YamlTree;
  readonly #renames: Renames;
  readonly #source: SourceText;
  readonly #indexes = new Map<YAMLMap, Map<string, Entry>>();

  constructor(tree: YamlTree, renames: Renames, source: SourceText) {
    this.#tree = tree;
    this.#renames = renames;
    this.#source = source;
  }

  /** The key that leads to a place; of an item of a list, the item. */
  keyRange(path: PlanPath): Range {
    const { entry, node } = this.#walk(path);
    return rangeOf(entry?.keyNode ?? node ?? this.#tree.root);
  }

  /** The value at a place; the key when nothing is written there. */
  valueRange(path: PlanPath): Range {
    const { entry, node } = this.#walk(path);
    const range = node?.range;
    if (range === undefined || range === null || range[0] === range[1]) return rangeOf(entry?.keyNode ?? node ?? this.#tree.root);
    return rangeOf(node);
  }

  /** The value itself for a scalar or flow value; the key for a block mapping or list, which would span many lines. */
  shortRange(path: PlanPath): Range {
    const value = this.valueRange(path);
    return this.#source.text.slice(value.start, value.end).includes('\n') ? this.keyRange(path) : value;
  }

  /** Whether a scalar stands there without quotes. */
  isPlain(path: PlanPath): boolean {
    const { node } = this.#walk(path);
    return isScalar(node) && node.type === 'PLAIN';
  }

  /**
   * A part of the text at a place. The part is looked up in the source as it is written; when it is not there in one
   * piece (escapes, folded lines), the whole value is meant.
   */
  partRange(path: PlanPath, text: string, offset: number, length: number): Range {
    const { node } = this.#walk(path);
    const whole = this.valueRange(path);
    if (node?.range === undefined || node.range === null || length <= 0) return whole;
    const raw = this.#source.text.slice(node.range[0], node.range[1]);
    // Whitespace at the border may be folded away; the rest is found as the n-th of its kind.
    const part = text.slice(offset, offset + length).trim();
    const begin = offset + text.slice(offset).search(/\S/);
    if (part === '') return whole;
    let nth = 0;
    for (let at = text.indexOf(part); at !== -1 && at < begin; at = text.indexOf(part, at + 1)) nth += 1;
    let found = raw.indexOf(part);
    for (; nth > 0 && found !== -1; nth -= 1) found = raw.indexOf(part, found + 1);
    return found === -1 ? whole : { start: node.range[0] + found, end: node.range[0] + found + part.length };
  }

  #walk(path: PlanPath): { entry: Entry | undefined; node: Node | null } {
    let node = resolve(this.#tree.root, this.#tree);
    let entry: Entry | undefined;
    for (const part of path) {
      if (isMap(node) && typeof part === 'string') {
        const next = this.#index(node).get(part);
        if (next === undefined) break;
        entry = next;
        node = resolve(next.valueNode, this.#tree);
      } else if (isSeq(node) && typeof part === 'number') {
        const item = node.items[part] as Node | undefined;
        if (item === undefined) break;
        entry = undefined;
        node = resolve(item, this.#tree);
      } else break;
    }
    return { entry, node };
  }

  #index(map: YAMLMap): Map<string, Entry> {
    let index = this.#indexes.get(map);
    if (index === undefined) {
      const renamed = this.#renames.get(map);
      index = new Map(entriesOf(map, this.#tree).map((entry) => [renamed?.get(entry.key) ?? entry.key, entry]));
      this.#indexes.set(map, index);
    }
    return index;
  }
}

export type { Scalar };
