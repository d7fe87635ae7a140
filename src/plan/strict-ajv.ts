import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { ANNOTATIONS } from './schema-shape.js';

/**
 * An ajv that knows the annotations of the plan schema; as strict as ajv gets.
 * @param trusted the schema is known to be valid (a test checks it), so its own check, half of a start, is left out
 */
export function strictAjv(trusted = false, more: Options = {}): Ajv2020 {
  const trust = trusted ? { meta: false, validateSchema: false } : {};
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, verbose: true, allowUnionTypes: true, ...trust, ...more });
  for (const keyword of ANNOTATIONS) ajv.addKeyword({ keyword });
  return ajv;
}
