// The schema as the reader of a file needs it: which keys a mapping may have, and where scalars are text.
import { readFileSync } from 'node:fs';
import { SCHEMAS } from '../core/schemas-folder.js';

export interface SchemaNode {
  $ref?: string;
  $defs?: { [name: string]: SchemaNode };
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: string[];
  required?: string[];
  properties?: { [name: string]: SchemaNode };
  patternProperties?: { [pattern: string]: SchemaNode };
  propertyNames?: SchemaNode;
  additionalProperties?: boolean | SchemaNode;
  items?: SchemaNode;
  oneOf?: SchemaNode[];
  not?: SchemaNode;
  pattern?: string;
  /** Scalars here are text with the spelling of the source; `typed`: when the `type` beside it is string. */
  'x-text'?: boolean | 'typed';
  /** Any JSON below here. */
  'x-json'?: boolean;
  /** What a message says is expected. */
  'x-expected'?: string;
  /** Code of the problem when a value does not fit. */
  'x-code'?: string;
  /** How a mapping is written, shown where something else stands; VALUE is what stands there. */
  'x-form'?: string;
  /** A duration that must be longer than zero. */
  'x-positive'?: boolean;
}

/** Own keywords of the schema; they only annotate. */
export const ANNOTATIONS = ['x-text', 'x-json', 'x-expected', 'x-code', 'x-form', 'x-positive'] as const;

export interface Shape {
  text: boolean | 'typed';
  json: boolean;
  /** JSON types that fit; undefined when any does. */
  types: ReadonlySet<string> | undefined;
  /** Keys of a closed mapping. */
  keys: ReadonlyMap<string, Shape> | undefined;
  /** Values of an open mapping. */
  values: Shape | undefined;
  items: Shape | undefined;
  /** Keys that belong to the user and are not read. */
  ignored: RegExp | undefined;
}

const ANY_JSON: Shape = { text: false, json: true, types: undefined, keys: undefined, values: undefined, items: undefined, ignored: undefined };

let cachedSchema: SchemaNode | undefined;
let cachedShape: Shape | undefined;

/** schemas/plan.schema.json, read once. */
export function planSchema(): SchemaNode {
  cachedSchema ??= JSON.parse(readFileSync(new URL('plan.schema.json', SCHEMAS), 'utf8')) as SchemaNode;
  return cachedSchema;
}

/** The shape of a plan file. */
export function planShape(): Shape {
  cachedShape ??= shapeOfNode(planSchema(), planSchema(), new Map());
  return cachedShape;
}

function shapeOfNode(written: SchemaNode, root: SchemaNode, known: Map<SchemaNode, Shape>): Shape {
  const node = written.$ref === undefined ? written : definitionOf(written.$ref, root);
  const found = known.get(node);
  if (found !== undefined) return found;
  const types = node.type === undefined ? undefined : new Set([node.type].flat());
  const shape: Shape = { text: node['x-text'] ?? false, json: node['x-json'] ?? false, types, keys: undefined, values: undefined, items: undefined, ignored: undefined };
  known.set(node, shape);
  const below = (child: SchemaNode) => shapeOfNode(child, root, known);
  if (shape.json || shape.text === 'typed') Object.assign(shape, { values: ANY_JSON, items: ANY_JSON });
  if (node.properties !== undefined) shape.keys = new Map(Object.entries(node.properties).map(([key, child]) => [key, below(child)]));
  if (typeof node.additionalProperties === 'object') shape.values = below(node.additionalProperties);
  if (node.items !== undefined) shape.items = below(node.items);
  const patterns = Object.keys(node.patternProperties ?? {});
  if (patterns[0] !== undefined) shape.ignored = new RegExp(patterns[0]);
  return shape;
}

/** The definition that a `$ref` such as `#/$defs/step` names. */
export function definitionOf(pointer: string, root: SchemaNode): SchemaNode {
  const node = root.$defs?.[pointer.replace('#/$defs/', '')];
  if (node === undefined) throw new Error(`plan.schema.json has no ${pointer}`);
  return node;
}
