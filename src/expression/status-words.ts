// Comparisons of a status with a word that no status has: always false (or always true), so never meant.
import { TERMINAL_STEP_STATUSES } from '../core/step-state.js';
import { listOf, nearest, quote } from '../core/suggest.js';
import { MACROS } from './functions.js';
import { callOf, chainOf, children, type Node } from './syntax.js';

export interface StatusFault {
  code: 'unknown_status';
  message: string;
  hint: string;
  offset: number;
  length: number;
}

// A step is read when it has ended; the session by `finally`, which runs whatever its steps came to.
const WORDS = { steps: TERMINAL_STEP_STATUSES, session: ['completed', 'failed', 'cancelled', 'expired'] } as const;
type Owner = keyof typeof WORDS;

/** What other tools call these endings. */
const ELSEWHERE: { [word: string]: string } = {
  ...named('completed', 'success succeeded successful succeed ok okay done pass passed complete finished finish ended true 0'),
  ...named('failed', 'failure fail failing failed_upstream error errored errors broken crashed false 1'),
  ...named('skipped', 'skip ignored omitted bypassed upstream_failed upstream_skipped'),
  ...named('cancelled', 'canceled cancel aborted abort stopped stop killed interrupted terminated'),
};
const TIMED_OUT = /^(?:timed?_?out|timeout|deadline_?exceeded)$/;

function named(meaning: string, words: string): { [word: string]: string } {
  return Object.fromEntries(words.split(' ').map((word) => [word, meaning]));
}

/** All words of an expression that a status is compared with and cannot be, in the order of the text. */
export function findUnknownStatus(tree: Node, text: string): StatusFault[] {
  if (!text.includes('status')) return [];
  const faults: StatusFault[] = [];
  visit(tree, new Map(), faults);
  return faults.sort((a, b) => a.offset - b.offset);
}

/** Variables of loops: of some it is known that they hold a status, or one of some written words. */
type Variables = ReadonlyMap<string, Owner | readonly Node[] | undefined>;

function visit(node: Node, variables: Variables, faults: StatusFault[]): void {
  if (node.op === '==' || node.op === '!=' || node.op === 'in') {
    const [left, right] = node.args as [Node, Node];
    compare(left, right, variables, faults);
    if (node.op !== 'in') compare(right, left, variables, faults);
  }
  const call = callOf(node);
  if (call?.receiver !== undefined && MACROS.has(call.name) && call.args[0]?.op === 'id') {
    visit(call.receiver, variables, faults);
    const inner = new Map(variables).set(call.args[0].args as string, itemsOf(call.receiver, variables));
    for (const body of call.args.slice(1)) visit(body, inner, faults);
    return;
  }
  for (const child of children(node)) visit(child, variables, faults);
}

function compare(status: Node, other: Node, variables: Variables, faults: StatusFault[]): void {
  const owner = ownerOf(status, variables);
  if (owner === undefined) return;
  for (const word of wordsOf(other, variables)) {
    const written = word.args as string;
    if (!(WORDS[owner] as readonly string[]).includes(written)) faults.push(faultOf(owner, written, word));
  }
}

function ownerOf(node: Node, variables: Variables): Owner | undefined {
  if (node.op === 'id') {
    const known = variables.get(node.args as string);
    return typeof known === 'string' ? known : undefined;
  }
  const chain = chainOf(node, new Set(variables.keys()));
  if (chain === undefined || chain.names.length !== chain.links.length) return undefined;
  if (chain.root === 'steps' && chain.names.length === 2 && chain.names[1] === 'status') return 'steps';
  return chain.root === 'session' && chain.names.length === 1 && chain.names[0] === 'status' ? 'session' : undefined;
}

// The texts that a side of a comparison may be, as far as they are written there.
function wordsOf(node: Node, variables: Variables): readonly Node[] {
  if (node.op === 'value') return typeof node.args === 'string' ? [node] : [];
  if (node.op === 'list') return (node.args as Node[]).flatMap((item) => wordsOf(item, variables));
  if (node.op === '?:') return (node.args as Node[]).slice(1).flatMap((branch) => wordsOf(branch, variables));
  if (node.op !== 'id') return [];
  const known = variables.get(node.args as string);
  return typeof known === 'object' ? known : [];
}

function itemsOf(receiver: Node, variables: Variables): Owner | readonly Node[] | undefined {
  if (receiver.op !== 'list') return undefined;
  const items = receiver.args as Node[];
  const owners = new Set(items.map((item) => ownerOf(item, variables)));
  const [owner] = owners;
  return owners.size === 1 && owner !== undefined ? owner : items.flatMap((item) => wordsOf(item, variables));
}

function faultOf(owner: Owner, written: string, { start, end }: Node): StatusFault {
  const words = WORDS[owner];
  const folded = written.toLowerCase().replaceAll('-', '_');
  const meant = ELSEWHERE[folded] ?? (TIMED_OUT.test(folded) ? (owner === 'session' ? 'expired' : 'failed') : undefined) ?? nearest(written, words);
  const ended = owner === 'steps' ? 'a step has ended when it is read' : 'the steps have ended when it is read';
  return {
    code: 'unknown_status',
    message: `the status of ${owner === 'steps' ? 'a step' : 'the session'} is never ${quote(written)}: it is ${listOf(words)}`,
    hint: meant === undefined ? ended : `did you mean "${meant}"?`,
    offset: start,
    length: end - start,
  };
}
