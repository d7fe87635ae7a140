// Names that no expression has: misspelt roots, functions, methods and members of steps, each with what was meant.
import { ExpressionError } from './expression-error.js';
import { FUNCTIONS, MACROS, METHODS, TYPE_NAMES } from './functions.js';
import { hintFor } from '../core/suggest.js';
import { compilePattern } from './pattern.js';
import { callOf, chainOf, children, ROOTS, type Chain, type Link, type Node } from './syntax.js';

/** A fault of an expression that its text alone shows. */
export interface NameFault {
  code: 'unknown_name' | 'bad_expression' | 'bad_pattern';
  message: string;
  hint?: string;
  offset: number;
  length: number;
}

/** All faults of names in a tree, in the order of the text. */
export function findUnknown(tree: Node, text: string): NameFault[] {
  const faults: NameFault[] = [];
  new Search(text, faults).visit(tree, new Set());
  return faults.sort((a, b) => a.offset - b.offset);
}

/** The first of the faults, to be thrown. */
export function asExpressionError(fault: NameFault, text: string): ExpressionError {
  return new ExpressionError(fault.hint === undefined ? fault.message : `${fault.message}; ${fault.hint}`, text, fault, fault.hint);
}

// What other tools have in expressions, and what stands for it here.
const ELSEWHERE: { [name: string]: string } = Object.assign(Object.create(null), {
  always: 'write "after: any" beside "if": the step runs however its needs ended',
  failure: 'write "after: failure" beside "if": the step runs when one of its needs failed',
  success: 'leave it out: a step runs when its needs succeeded ("after: success")',
  cancelled: 'under "finally", write session.status == "cancelled"',
  failed: 'write "after: failure" beside "if": the step runs when one of its needs failed',
  succeeded: 'leave it out: a step runs when its needs succeeded ("after: success")',
  skipped: 'write steps.ID.status == "skipped"',
  toJSON: 'write toJson(x)',
  fromJSON: 'write fromJson(text)',
  format: 'write the text around several ${{ }}, or join it with +',
  contains: 'write it behind the value: text.contains(part); in a list: item in list',
  hashFiles: 'let a step compute it: run: sha256sum FILE, with "stdout: text"',
  len: 'write size(x)',
  length: 'write size(x)',
  count: 'write size(x)',
  str: 'write string(x)',
  number: 'write double(x)',
  float: 'write double(x)',
  coalesce: 'write default(x, value)',
  defined: 'write has(x)',
  exists: 'write has(x)',
  now: 'no expression knows the time; let a step give it: run: date, with "stdout: text"',
}) as { [name: string]: string };
const MEMBERS_ELSEWHERE: { [name: string]: string } = Object.assign(Object.create(null), {
  output: 'write outputs.NAME, or result',
  out: 'write outputs.NAME, or result',
  outcome: 'write status',
  conclusion: 'write status',
  state: 'write status',
  success: 'write status == "completed"',
  failed: 'write status == "failed"',
  stdout: 'write result, and "stdout: text" at the step',
  stderr: 'standard error goes to the log only',
  exit_code: 'a step that ends with another code than 0 has failed: status == "failed"',
  exitCode: 'a step that ends with another code than 0 has failed: status == "failed"',
  body: 'write result.body',
  response: 'write result.body',
  value: 'write result, or outputs.NAME',
}) as { [name: string]: string };
const ROOTS_ELSEWHERE: { [name: string]: string } = Object.assign(Object.create(null), {
  inputs: 'write params.NAME',
  input: 'write params.NAME',
  parameters: 'write params.NAME',
  param: 'write params.NAME',
  needs: 'write steps.ID.outputs.NAME',
  jobs: 'write steps.ID',
  job: 'write session.id, or steps.ID',
  tasks: 'write steps.ID',
  step: 'write steps.ID',
  nodes: 'write steps.ID',
  outputs: 'write steps.ID.outputs.NAME',
  vars: 'write params.NAME, or env.NAME',
  variables: 'write params.NAME, or env.NAME',
  github: 'write env.GITHUB_SHA and the like: it is a variable of the host',
  workflow: 'write session.id or plan.name',
  run: 'write session.id',
  runner: 'Planwright has no runners; a variable of the host is env.NAME',
  matrix: 'a step cannot be repeated over a list; write one step for each item',
  item: 'a step cannot be repeated over a list; in a loop of an expression: list.map(item, …)',
  secret: 'write secrets.NAME',
  yes: 'write true',
  no: 'write false',
  True: 'write true',
  False: 'write false',
  None: 'write null',
  nil: 'write null',
  status: 'write steps.ID.status, or session.status under "finally"',
}) as { [name: string]: string };

type Bound = ReadonlySet<string>;

class Search {
  readonly #text: string;
  readonly #faults: NameFault[];
  constructor(text: string, faults: NameFault[]) {
    this.#text = text;
    this.#faults = faults;
  }

  visit(node: Node, bound: Bound): void {
    const call = callOf(node);
    if (call !== undefined) return this.#call(node, call, bound);
    if (node.op === 'id') return this.#name(node, bound);
    if (node.op === 'value') return this.#literal(node);
    if (node.op === 'map') this.#keys(node);
    if (node.op === '-' && this.#hyphen(node, bound)) return;
    const chain = chainOf(node, bound);
    if (chain?.root === 'steps') this.#member(chain, chain.names[1]);
    const parts = chain === undefined ? children(node) : chain.links.flatMap(({ key }) => (typeof key === 'string' ? [] : [key]));
    for (const part of parts) this.visit(part, bound);
  }

  #tell(node: { start: number; end: number }, code: NameFault['code'], message: string, hint?: string): void {
    this.#faults.push({ code, message, ...(hint === undefined ? {} : { hint }), offset: node.start, length: Math.max(1, node.end - node.start) });
  }

  #name(node: Node, bound: Bound): void {
    const name = node.args as string;
    if (bound.has(name) || (ROOTS as readonly string[]).includes(name) || TYPE_NAMES.has(name)) return;
    if (name === 'int' || name === 'uint') return this.#tell(node, 'unknown_name', `there is no type "${name}"`, 'numbers are of one type: double');
    this.#tell(node, 'unknown_name', `there is no name "${name}"`, ROOTS_ELSEWHERE[name] ?? hintFor(name, [...ROOTS, ...bound], `names begin with params, steps, env, secrets, session or plan; text stands in quotes: "${name}"`));
  }

  #call(node: Node, call: NonNullable<ReturnType<typeof callOf>>, bound: Bound): void {
    const { name, receiver, args } = call;
    const known = receiver === undefined ? FUNCTIONS : METHODS;
    const counts = known.get(name);
    const place = receiver === undefined ? { start: node.start, end: node.start + name.length } : this.#after(receiver.end, name);
    const instead = receiver === undefined ? ELSEWHERE[name] : undefined;
    if (counts === undefined && instead !== undefined) this.#tell(place, 'unknown_name', `there is no function "${name}"`, instead);
    else if (counts === undefined) {
      const other = receiver === undefined ? METHODS : FUNCTIONS;
      const otherwise = other.has(name) ? (receiver === undefined ? `write it behind the value: x.${name}(…)` : `write ${name}(x)`) : `there are ${[...known.keys()].filter((one) => !/^get|^(?:or|orValue|hasValue|value|hex|base64)$/.test(one)).join(', ')}`;
      this.#tell(place, 'unknown_name', `there is no ${receiver === undefined ? 'function' : 'method'} "${name}"`, other.has(name) ? otherwise : hintFor(name, known.keys(), otherwise));
    } else if (!counts.includes(args.length)) {
      this.#tell(place, 'bad_expression', `${name}() takes ${counts.join(' or ')} argument${counts.length === 1 && counts[0] === 1 ? '' : 's'}, this has ${args.length}`);
    }
    if (receiver !== undefined) this.visit(receiver, bound);
    if (receiver !== undefined && MACROS.has(name)) {
      const [variable, ...bodies] = args;
      if (variable?.op === 'id' && /^_/.test(variable.args as string)) this.#tell(variable, 'bad_expression', 'a name cannot begin with "_"');
      const inner = variable?.op === 'id' ? new Set([...bound, variable.args as string]) : bound;
      for (const body of bodies) this.visit(body, inner);
      return;
    }
    if (receiver === undefined && (name === 'has' || name === 'default')) this.#path(name, args[0]);
    if (name === 'matches') this.#pattern(args[0]);
    for (const argument of args) this.visit(argument, bound);
  }

  #path(name: string, argument: Node | undefined): void {
    if (argument === undefined || ['.', '.?', '[]', '[?]'].includes(argument.op)) return;
    this.#tell(argument, 'bad_expression', `${name}() asks for a path`, `such as ${name}(steps.a.outputs.x${name === 'has' ? '' : ', …'})`);
  }

  #pattern(argument: Node | undefined): void {
    if (argument?.op !== 'value' || typeof argument.args !== 'string') return;
    try {
      compilePattern(argument.args);
    } catch (error) {
      this.#tell(argument, 'bad_pattern', (error as Error).message);
    }
  }

  #literal(node: Node): void {
    const value = node.args;
    if (typeof value === 'bigint' && value > BigInt(Number.MAX_SAFE_INTEGER)) this.#tell(node, 'bad_expression', `${value} is too large: whole numbers are exact only to ${Number.MAX_SAFE_INTEGER}`, 'write it as text, in quotes');
    else if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) this.#tell(node, 'bad_expression', 'numbers have no "u" behind them');
  }

  #keys(node: Node): void {
    for (const [key] of node.args as Array<[Node, Node]>) {
      if (key.op === 'value' && typeof key.args === 'string' && isForbiddenKey(key.args)) this.#tell(key, 'bad_expression', `an expression cannot make an object with the key "${key.args}"`);
    }
  }

  // `steps.my-id.outputs.x` is a subtraction for CEL.
  #hyphen(node: Node, bound: Bound): boolean {
    const [left, right] = node.args as [Node, Node];
    const chain = chainOf(left, bound);
    if (chain?.root !== 'steps' || chain.names.length !== 1 || this.#text.slice(left.end, right.start) !== '-') return false;
    let first = right;
    while (first.op !== 'id') {
      const below = children(first)[0];
      if (below === undefined) return false;
      first = below;
    }
    if (bound.has(first.args as string) || (ROOTS as readonly string[]).includes(first.args as string)) return false;
    const id = `${chain.names[0] as string}-${first.args as string}`;
    this.#tell({ start: chain.rootNode.start, end: first.end }, 'unknown_name', `steps.${id} is a subtraction, not a step`, `write steps["${id}"]${this.#text.slice(first.end, node.end)}`);
    return true;
  }

  #member({ rootNode, links }: Chain, name: string | undefined): void {
    if (name === undefined || ['status', 'outputs', 'result'].includes(name)) return;
    if (MEMBERS_ELSEWHERE[name] !== undefined) return this.#tell({ start: rootNode.start, end: (links[1] as Link).node.end }, 'bad_expression', `a step has no "${name}"`, MEMBERS_ELSEWHERE[name]);
    const otherwise = `a step has status, outputs and result; what it declares is read as outputs.${/^[A-Za-z_]\w*$/.test(name) ? name : 'NAME'}`;
    this.#tell({ start: rootNode.start, end: (links[1] as Link).node.end }, 'bad_expression', `a step has no "${name}"`, hintFor(name, ['status', 'outputs', 'result'], otherwise));
  }

  #after(from: number, word: string): { start: number; end: number } {
    const start = Math.max(from, this.#text.indexOf(word, from));
    return { start, end: start + word.length };
  }
}

/** Keys that the library leaves out of the objects it makes, without a word. */
export function isForbiddenKey(key: string): boolean {
  return key === '__proto__' || key === 'constructor' || key === 'prototype';
}
