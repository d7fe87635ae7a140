// `env.NAME` in expressions means the plan's `env`, else the host's variable. A step's own `env` is for its process.
import type { Reference } from '../expression/references.js';
import { referencesOfTemplate } from '../expression/references.js';
import type { PlanContext } from './plan-context.js';
import type { PlanPath, ReferenceFault } from './problem-list.js';
import type { Site } from './sites.js';
import type { StepDraft } from './step-draft.js';
import { hintFor, nearest, quote } from '../core/suggest.js';

const SECRET_LIKE = /(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PRIVATE_KEY|API_?KEY|ACCESS_KEY|CREDENTIALS?)(?:_|$|\d)/i;

// Variables that every host has: a plan variable with a like name makes no typing error of them.
const WELL_KNOWN = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TMPDIR', 'TERM', 'PWD', 'CI']);

export function checkEnvReference(context: PlanContext, site: Site, reference: Reference, hostEnv: Set<string>): ReferenceFault {
  const { name } = reference;
  if (name === undefined) return { code: 'dynamic_reference', message: 'an environment variable is read by its own name', hint: 'write env.NAME' };
  const planEnv = context.plan.env ?? {};
  if (site.reader === 'start') return startFault(context, site, reference, name, hostEnv);
  if (Object.hasOwn(planEnv, name)) return secretThrough(context, site, name);
  const own = typeof site.reader === 'object' ? (site.reader.authored.env ?? {}) : {};
  if (Object.hasOwn(own, name) && site.inEnv === undefined) {
    return { code: 'env_not_visible', message: `${name} is in the env of this step, which only its process sees`, hint: `write the value itself, or move ${name} to the env of the plan` };
  }
  return hostFault(context, site, reference, name, Object.keys(planEnv), hostEnv);
}

// Inside the plan's env, a name means the host's variable: `PATH: "/opt/bin:${{ env.PATH }}"`.
function startFault(context: PlanContext, site: Site, reference: Reference, name: string, hostEnv: Set<string>): ReferenceFault {
  const planEnv = context.plan.env ?? {};
  const own = site.path[site.path.length - 1];
  if (site.inEnv !== undefined && Object.hasOwn(planEnv, name) && name !== own) {
    return { code: 'env_not_visible', message: `${name} is another variable of this env; they cannot read each other`, hint: 'use a param, or repeat the value' };
  }
  if (site.inEnv === undefined && Object.hasOwn(planEnv, name)) return secretThrough(context, site, name);
  return hostFault(context, site, reference, name, [], hostEnv);
}

function hostFault(context: PlanContext, site: Site, reference: Reference, name: string, declared: readonly string[], hostEnv: Set<string>): ReferenceFault {
  const meant = WELL_KNOWN.has(name) ? undefined : nearest(name, declared);
  if (meant !== undefined) return { code: 'unknown_env', message: `the plan declares no env ${quote(name)}`, hint: hintFor(name, declared, '') };
  if ((context.plan.secrets ?? []).includes(name)) {
    return { code: 'secret_not_allowed', message: `${name} is a secret, and variables of the host are stored with the session`, hint: `write secrets.${name}` };
  }
  hostEnv.add(name);
  if (SECRET_LIKE.test(name)) context.faultIn(site, reference.offset, reference.length, 'secret_like_env', ...secretLike(name), 'warning');
  return undefined;
}

// A variable of the plan that holds a secret is one wherever it is read.
function secretThrough(context: PlanContext, site: Site, name: string): ReferenceFault {
  const passed = context.plan.env?.[name];
  const value = passed === null && (context.plan.secrets ?? []).includes(name) ? `\${{ secrets.${name} }}` : passed;
  if (site.noSecrets === undefined || typeof value !== 'string' || !value.includes('secrets')) return undefined;
  return holdsSecret(value) ? { code: 'secret_not_allowed', message: `env.${name} holds a secret, which cannot be used here: ${site.noSecrets}`, hint: 'secrets go in env, http, call.args and stdin' } : undefined;
}

function holdsSecret(template: string): boolean {
  try {
    return referencesOfTemplate(template).some((reference) => reference.root === 'secrets');
  } catch {
    return false; // told where it stands
  }
}

/** Variables that an `env` map passes through from the host (`NAME:` with nothing behind it); a secret is read as one. */
export function checkPassedThrough(context: PlanContext, hostEnv: Set<string>): void {
  const visit = (path: PlanPath, env: { [name: string]: string | null } | undefined, draft?: StepDraft) => {
    for (const [name, value] of Object.entries(env ?? {})) {
      if (value !== null || context.problems.isBroken([...path, name])) continue;
      if ((context.plan.secrets ?? []).includes(name)) {
        if (draft?.secrets.includes(name) === false) draft.secrets.push(name);
        continue;
      }
      hostEnv.add(name);
      if (SECRET_LIKE.test(name)) context.warn([...path, name], 'key', 'secret_like_env', ...secretLike(name));
    }
  };
  visit(['env'], context.plan.env);
  for (const draft of context.drafts.values()) visit([...draft.path, 'env'], draft.authored.env, draft);
}

function secretLike(name: string): [message: string, hint: string] {
  return [`${name} looks like a secret, and variables of the host are stored with the session`, `list ${name} under "secrets" and write \${{ secrets.${name} }}`];
}
