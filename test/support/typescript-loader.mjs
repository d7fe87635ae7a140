// Lets a child process run the TypeScript sources as they are: `node --import ./test/support/typescript-loader.mjs
// child.ts`. Node 20 cannot drop types itself, and a build could be older than the sources. The transformer is the one vitest itself brings (four times faster to load than the
// compiler).
import { register } from 'node:module';

const hooks = `
import { readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from ${JSON.stringify(import.meta.resolve('rolldown/utils'))};

export async function resolve(specifier, context, next) {
  if (/^\\.{1,2}\\//.test(specifier) && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts')) {
    const url = new URL(specifier.slice(0, -3) + '.ts', context.parentURL);
    if (existsSync(fileURLToPath(url))) return { url: url.href, format: 'module', shortCircuit: true };
  }
  if (specifier.endsWith('.ts')) {
    const { url } = await next(specifier, { ...context, importAttributes: {} }).catch(() => ({ url: specifier }));
    return { url, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  const { code, errors } = transformSync(fileURLToPath(url), source, { lang: 'ts' });
  if (errors.length > 0) throw new Error(errors[0].message);
  return { format: 'module', source: code, shortCircuit: true };
}
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
