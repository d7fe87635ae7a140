// The compiled plan schema. From the sources it is compiled at its first use; the build (build/validator.mjs) puts the
// code that ajv makes in the place of this module, which spares every start the compiler.
import type { ValidateFunction } from 'ajv';
import { planSchema } from './schema-shape.js';
import { strictAjv } from './strict-ajv.js';

let compiled: ValidateFunction | undefined;

/** Checks a tree against schemas/plan.schema.json; its `errors` say what does not fit. */
export function planValidator(): ValidateFunction {
  return (compiled ??= strictAjv(true).compile(planSchema()));
}
