// plan run FILE: starts a new session of a plan.
import { UsageError } from '../../core/error.js';
import type { JsonObject } from '../../core/json.js';
import { newSessionId } from '../../core/id.js';
import { maskerOf, secretsInParams, secretsOf } from '../../executor/secrets-at-start.js';
import { planEnvSecrets } from '../../executor/step-inputs.js';
import { bindParams } from '../../plan/bind-params.js';
import { loadPlan } from '../../plan/load.js';
import type { Plan } from '../../plan/plan.js';
import { canBeTold, type Masker } from '../../process/masker.js';
import type { CliContext } from '../cli-context.js';
import { driveToEnd } from '../drive-to-end.js';
import { InvalidPlanError, UsageFaults } from '../error-report.js';
import { openExecutor } from '../open-executor.js';
import { checkSessionId, withStore } from '../open-store.js';
import { parseAssignments, parseWait } from '../parse-options.js';
import { problemText } from '../problem-report.js';
import { plural } from '../words.js';
import { oneLine } from '../safe-text.js';

export interface RunOptions {
  param?: string[];
  paramsFile?: string;
  session?: string;
  maxWait?: string;
  json?: boolean;
  quiet?: boolean;
}

export async function run(context: CliContext, file: string, options: RunOptions): Promise<number> {
  if (options.session !== undefined) checkSessionId(options.session);
  const texts = parseAssignments('--param', options.param ?? []);
  const maxWaitMs = options.maxWait === undefined ? undefined : parseWait('--max-wait', options.maxWait);
  const loaded = await loadPlan(file, { functions: [] });
  if (!loaded.ok) throw new InvalidPlanError(file, loaded.problems);
  const { plan } = loaded;
  const params = await paramsOf(context, plan, options.paramsFile, texts);
  for (const warning of loaded.warnings) context.err.text(problemText(warning));
  for (const { name, value } of secretsOf(plan, (secret) => context.env[secret])) {
    if (!canBeTold(value)) context.err.line(`warning: the secret ${name} is too short or too plain to be told from ordinary data; it is masked in texts, but may be stored as a part of data`);
  }

  return withStore(context, { create: true }, async (store) => {
    const executor = openExecutor(context, store);
    const sessionId = options.session ?? newSessionId(context.clock.now());
    const title = `session ${sessionId}: plan ${oneLine(plan.name, 100)}, ${plural(plan.steps.length, 'step')}`;
    return driveToEnd(context, { ...options, title, steps: plan.steps.length }, (drive) =>
      executor.run(loaded, { ...drive, params, sessionId, ...(maxWaitMs === undefined ? {} : { maxWaitMs }) }),
    );
  });
}

// Params and secrets that are missing or wrong are told together, before anything is stored.
async function paramsOf(context: CliContext, plan: Plan, paramsFile: string | undefined, texts: { [name: string]: string }): Promise<JsonObject> {
  const secret = (name: string) => context.env[name];
  const given = paramsFile === undefined ? {} : await paramsIn(paramsFile, plan, maskerOf(plan, secret));
  // First of all: what is wrong with a value is told with the value.
  const holding = secretsInParams(secretsOf(plan, secret), { ...given, ...texts });
  if (holding.length > 0) throw new UsageFaults('invalid_inputs', holding);
  const bound = bindParams(plan, given, texts);
  const faults = bound.ok ? [] : bound.problems.map(({ code, message, hint }) => ({ code: code as string, message, ...(hint === undefined ? {} : { hint }) }));
  const used = new Set([...planEnvSecrets(plan), ...plan.steps.flatMap((step) => step.secrets)]);
  for (const name of used) {
    if ((secret(name) ?? '') === '') faults.push({ code: 'missing_secret', message: `the secret ${name} is not set`, hint: `set the environment variable ${name}` });
  }
  if (faults.length > 0 || !bound.ok) throw new UsageFaults('invalid_inputs', faults);
  return bound.params;
}

// What is wrong with a file is told with a piece of it.
async function paramsIn(file: string, plan: Plan, masker: Masker): Promise<JsonObject> {
  const { readParamsFile } = await import('../params-file.js');
  try {
    return await readParamsFile(file, plan.params);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const message = masker.text(error.message);
    throw new UsageError(error.code, masker.hasPiece(message) ? '--params-file: it is not YAML or JSON; why would show a part of a secret, which no param may hold' : message);
  }
}
