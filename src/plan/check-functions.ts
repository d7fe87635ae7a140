// `call` names a function of the host, or one of a module. Which functions the host has is known where the plan is to be
// run: the command line has none.
import { nearest, quote } from '../core/suggest.js';
import type { PlanContext } from './plan-context.js';

/** The name of a function that the host must have; undefined for one of a module. */
export function registeredFunction(name: string): string | undefined {
  return name.includes('#') || /^\.{0,2}\//.test(name) ? undefined : name;
}

/** @param functions names that the host has; undefined when it is not known yet which */
export function checkFunctions(context: PlanContext, functions: readonly string[] | undefined): void {
  if (functions === undefined) return;
  for (const { path, authored } of context.drafts.values()) {
    const name = authored.call?.function === undefined ? undefined : registeredFunction(authored.call.function);
    if (name === undefined || functions.includes(name)) continue;
    const module = /^[\w/-]+\.(?:[cm]?js|ts)$/.test(name);
    const meant = nearest(name, functions);
    const hint = module ? `a module begins with "./": ./${name}#export` : meant !== undefined ? `did you mean "${meant}"?` : 'name a module beside the plan, ./module.js#export; functions of its own has only a program that uses the library';
    context.fault([...path, 'call', 'function'], 'value', 'unknown_function', `no function ${quote(name)} is registered`, hint);
  }
}
