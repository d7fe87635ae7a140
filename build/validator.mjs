// Puts the code that ajv makes of the plan schema in the place of dist/plan/plan-validator.js: compiling it takes longer
// than everything else of a start.
import { writeFileSync } from 'node:fs';
import standalone from 'ajv/dist/standalone/index.js';

export async function writeValidator() {
  const { strictAjv } = await import('../dist/plan/strict-ajv.js');
  const { planSchema } = await import('../dist/plan/schema-shape.js');
  const ajv = strictAjv(true, { code: { source: true, lines: true } });
  const code = standalone.default(ajv, ajv.compile(planSchema()));
  const needs = [...new Set([...code.matchAll(/require\("([^"]+)"\)\.default/g)].map(([, name]) => name))];
  const imports = needs.map((name, i) => `import need${i} from '${name}.js';\n`).join('');
  const body = needs.reduce((text, name, i) => text.replaceAll(`require("${name}").default`, `need${i}.default`), code);
  if (/\brequire\(/.test(body)) throw new Error('the validator needs something that this build does not know');
  writeFileSync('dist/plan/plan-validator.js', `// Made by build/validator.mjs from schemas/plan.schema.json.\n${imports}const module = { exports: {} };\n${body}\nexport const planValidator = () => module.exports;\n`);
}
