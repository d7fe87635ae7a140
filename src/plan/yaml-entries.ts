// The entries of a YAML mapping as a plan sees them: keys as text in their source spelling, merge keys (`<<`) resolved.
import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml';
import type { YamlTree } from './yaml-document.js';

export interface Entry {
  key: string;
  keyNode: Scalar;
  valueNode: Node | null;
  /** It stands in another mapping, and a merge key brought it here. */
  merged: boolean;
}

export interface EntryFaults {
  /** The key is a list, a mapping or empty. */
  badKey(map: YAMLMap, pair: Pair): void;
  duplicate(key: string, second: Node, first: Node): void;
  badMerge(node: Node | null): void;
}

const SILENT: EntryFaults = { badKey() {}, duplicate() {}, badMerge() {} };

/** Entries of a mapping: its own first, in order, then those that its merge keys bring. */
export function entriesOf(map: YAMLMap, tree: YamlTree, faults: EntryFaults = SILENT): Entry[] {
  const entries = new Map<string, Entry>();
  const merges: Array<Node | null> = [];
  for (const pair of map.items) {
    const keyNode = resolve(pair.key as Node | null, tree);
    if (!isScalar(keyNode) || (keyNode.value === null && (keyNode.source ?? '') === '')) {
      faults.badKey(map, pair);
      continue;
    }
    const key = textOf(keyNode);
    const place = pair.key as Node;
    const valueNode = pair.value as Node | null;
    if (key === '<<' && keyNode.type === 'PLAIN') {
      merges.push(valueNode);
      continue;
    }
    const first = entries.get(key);
    if (first !== undefined) faults.duplicate(key, place, first.keyNode);
    else entries.set(key, { key, keyNode: isScalar(place) ? place : keyNode, valueNode, merged: false });
  }
  const seen = new Set<Node>();
  for (const merge of merges) addMerged(merge, tree, faults, entries, seen, true);
  return [...entries.values()];
}

// `seen`: a mapping that was merged already has nothing to add, and one that contains itself ends there.
function addMerged(node: Node | null, tree: YamlTree, faults: EntryFaults, into: Map<string, Entry>, seen: Set<Node>, listAllowed: boolean): void {
  const source = resolve(node, tree);
  if (isMap(source)) {
    if (seen.has(source)) return;
    seen.add(source);
    const nested: Array<Node | null> = [];
    for (const pair of source.items) {
      const keyNode = resolve(pair.key as Node | null, tree);
      if (!isScalar(keyNode)) continue;
      const key = textOf(keyNode);
      if (key === '<<' && keyNode.type === 'PLAIN') nested.push(pair.value as Node | null);
      else if (!into.has(key)) into.set(key, { key, keyNode, valueNode: pair.value as Node | null, merged: true });
    }
    for (const merge of nested) addMerged(merge, tree, faults, into, seen, true);
  } else if (isSeq(source) && listAllowed) {
    for (const item of source.items) addMerged(item as Node, tree, faults, into, seen, false);
  } else faults.badMerge(node);
}

/** Follows an alias to its node. */
export function resolve(node: Node | null | undefined, tree: YamlTree): Node | null {
  return isAlias(node) ? (tree.target(node) ?? node) : (node ?? null);
}

/** The text of a scalar as it stands in the source. */
export function textOf(scalar: Scalar): string {
  return typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? String(scalar.value));
}
