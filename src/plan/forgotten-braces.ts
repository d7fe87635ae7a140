// Text that looks like an expression, but stands in no `${{ }}`: it would be used as it is written.
import type { PlanContext } from './plan-context.js';
import type { Site } from './sites.js';

export interface Forgotten {
  offset: number;
  length: number;
  /** What was probably meant, without braces. */
  expression: string;
}

const PATH = String.raw`(?:steps|params|secrets|env|session|plan)(?:\.[A-Za-z_][\w-]*|\["[^"\]]+"\])+`;
// `{{ x }}` (also `$ {{ x }}`), `${ x }`, `$( x )`, `$x`, and a path alone.
const FORMS: readonly RegExp[] = [
  new RegExp(String.raw`(?<!\{)(?:\$ ?)?\{\{-?\s*\.?((?:${PATH}|[A-Za-z_]\w*)[^{}]{0,200}?)\s{0,20}-?\}\}(?!\})`, 'g'),
  new RegExp(String.raw`\$\{\s*(${PATH}|[A-Za-z_]\w*)\s*\}`, 'g'),
  new RegExp(String.raw`\$\(\s*(${PATH})\s*\)`, 'g'),
  new RegExp(String.raw`(?<![\w$])\$(${PATH})`, 'g'),
];
const BARE = new RegExp(String.raw`(?<![\w.$/"'-])(${PATH})(?![\w/(-]|\.\w)`, 'g');

/**
 * The first such place of a text that is no template as a whole, or of what stands beside the templates in it. Of names
 * that the plan does not have nothing is said: `{{ .State }}` and `${HOME}` are for other programs.
 * @param script in a script only what no shell and no other language would write
 */
export function forgottenBraces(context: PlanContext, text: string, script = false): Forgotten | undefined {
  if (!/\b(?:steps|params|secrets|env|session|plan)[.[]|\{\{|\$\{/.test(text)) return undefined;
  const outside = text.replace(/\$\{\{(?:[^}]|\}(?!\}))*\}\}/g, (found) => ' '.repeat(found.length));
  for (const form of [...FORMS, BARE]) {
    for (const found of outside.matchAll(form)) {
      const expression = (found[1] as string).trim();
      // A path among other words may be a file (params.yaml); one of a step's outputs is nothing else.
      if (form === BARE && !/^steps\b/.test(expression) && (script || expression !== text.trim())) continue;
      if (isMeant(context, expression, form)) return { offset: found.index, length: found[0].length, expression };
    }
  }
  return undefined;
}

function isMeant(context: PlanContext, expression: string, form: RegExp): boolean {
  const [root = '', name, member] = expression.split(/[.["\]\s]+/);
  const { params, secrets, env } = context.plan;
  switch (root) {
    case 'steps':
      return name !== undefined && context.drafts.has(name) && (member === 'outputs' || member === 'result' || member === 'status');
    case 'params':
      return name !== undefined && Object.hasOwn(params ?? {}, name);
    case 'secrets':
      return name !== undefined && (secrets ?? []).includes(name);
    case 'env':
      return name !== undefined && (form === FORMS[0] || Object.hasOwn(env ?? {}, name));
    case 'session':
    case 'plan':
      return form !== BARE && name !== undefined && ['id', 'status', 'name'].includes(name);
    default:
      // A param alone, in the braces of another tool.
      return form === FORMS[0] && /^\w+$/.test(expression) && Object.hasOwn(params ?? {}, root);
  }
}

/** What to write instead. */
export function bracesHint(context: PlanContext, { expression }: Forgotten): string {
  return `write \${{ ${Object.hasOwn(context.plan.params ?? {}, expression) ? `params.${expression}` : expression} }}`;
}

/** Warns at a place of a template. */
export function checkBraces(context: PlanContext, site: Site): void {
  if (site.form !== 'template' || context.problems.isBroken(site.path)) return;
  const found = forgottenBraces(context, site.text);
  if (found === undefined) return;
  context.faultIn(site, found.offset, found.length, 'forgotten_braces', 'this is used as it is written: only what stands in ${{ }} is an expression', bracesHint(context, found), 'warning');
}
