import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PROBLEM_CODES } from '../../src/plan/problem-code.js';
import { definitionOf, planSchema, type SchemaNode } from '../../src/plan/schema-shape.js';
import { strictAjv } from '../../src/plan/strict-ajv.js';

/** Every key that the schema knows, as `step.retry`-like names: the section of the reference, and the key. */
function keysOfSchema(): Map<string, { described: boolean; node: SchemaNode }> {
  const root = planSchema();
  const keys = new Map<string, { described: boolean; node: SchemaNode }>();
  const visit = (section: string, node: SchemaNode) => {
    for (const [key, written] of Object.entries(node.properties ?? {})) {
      const name = `${section}.${key}`;
      const target = written.$ref === undefined ? written : definitionOf(written.$ref, root);
      keys.set(name, { described: (written.description ?? '').length > 10, node: written });
      if (target.properties !== undefined) visit(SECTIONS.get(target) ?? key, target);
    }
  };
  const SECTIONS = new Map([[root.$defs?.['retry'] as SchemaNode, 'retry']]);
  visit('plan', root);
  for (const name of ['step', 'param', 'output', 'retry', 'http', 'call']) visit(name, definitionOf(`#/$defs/${name}`, root));
  return keys;
}

/** Keys that the reference documents: rows `| \`key\` …` of the tables under a heading with `<a id="keys-SECTION"></a>`. */
function keysOfReference(): string[] {
  const keys: string[] = [];
  let section: string | undefined;
  for (const line of readFileSync(new URL('../../docs/plan-language.md', import.meta.url), 'utf8').split('\n')) {
    if (line.startsWith('#')) section = /<a id="keys-([a-z_]+)"><\/a>/.exec(line)?.[1];
    const key = /^\| `([a-z_]+)` \|/.exec(line)?.[1];
    if (key !== undefined && section !== undefined) keys.push(`${section}.${key}`);
  }
  return keys;
}

describe('the schema', () => {
  test('is valid JSON Schema 2020-12 and compiles in the strictest mode', () => {
    const ajv = strictAjv();
    expect(ajv.validateSchema(planSchema())).toBe(true);
    expect(() => ajv.compile(planSchema())).not.toThrow();
  });

  test('describes every key', () => {
    expect([...keysOfSchema()].filter(([, { described }]) => !described).map(([name]) => name)).toEqual([]);
  });

  test('closes every mapping that has keys', () => {
    const open: string[] = [];
    const visit = (path: string, node: SchemaNode) => {
      if (node.properties !== undefined && node.additionalProperties !== false) open.push(path);
      for (const [key, child] of Object.entries(node.properties ?? {})) visit(`${path}.${key}`, child);
      for (const [key, child] of Object.entries(node.$defs ?? {})) visit(`${path}.${key}`, child);
      if (typeof node.additionalProperties === 'object') visit(`${path}.*`, node.additionalProperties);
    };
    visit('', planSchema());
    expect(open).toEqual([]);
  });
});

describe('the reference of the language', () => {
  test('documents every key of the schema, and no other', () => {
    expect(keysOfReference().sort()).toEqual([...keysOfSchema().keys()].sort());
  });

  test('lists every problem code with its meaning, and no other', () => {
    const text = readFileSync(new URL('../../docs/plan-language.md', import.meta.url), 'utf8');
    const rows = [...text.slice(text.indexOf('## Problems')).matchAll(/^\| `([a-z_0-9]+)` \| (.+) \|$/gm)].map(([, code, meaning]) => [code, meaning]);
    expect(Object.fromEntries(rows)).toEqual(PROBLEM_CODES);
    const codes = [...readFileSync(new URL('../../schemas/plan.schema.json', import.meta.url), 'utf8').matchAll(/"x-code": "([a-z_]+)"/g)].map(([, code]) => code as string);
    expect(codes.filter((code) => !(code in PROBLEM_CODES))).toEqual([]);
  });
});
