// Writes a tree as CEL again, the way the library is to see it:
//
// P1. A reference is a variable (slots); has() and default() become its optional forms.
// P2. There is one type of number. Integers are written as decimals, what the library counts becomes a number at once
//     (`_n`), an index an integer again (`_index`). Sums and products of integers are exact, or an error (`_exact`); a
//     division is that of decimals whatever is divided, but not by zero (`_finite`).
// P3. Where the library is unsafe, its place is taken: `matches` (JavaScript's patterns), keys of objects that it would
//     leave out, loops that would take hours (`_turns`, and `_paid` for what is done in them), `split`, which kills the process.
//
// Names that begin with `_` are ours; no expression can have them (find-unknown.ts).
import { COUNTING_FUNCTIONS, COUNTING_METHODS, MACROS } from './functions.js';
import { isWhole } from './is-whole.js';
import type { Slot } from './references.js';
import { callOf, linkOf, type Node } from './syntax.js';

/** A slot with the variable that stands for it. */
export type NamedSlot = Slot & { variable: string };

export interface Printed {
  text: string;
  /** The smallest node of the tree that a range of the text came from. */
  nodeAt(range: { start: number; end: number }): Node | undefined;
}

/** @param loose nodes to be wrapped in dyn(), so that values of several types may meet there */
export function printExpression(tree: Node, slots: readonly NamedSlot[], loose: ReadonlySet<Node>): Printed {
  const printer = new Printer(slots, loose);
  printer.print(tree, 0);
  return printer.finish();
}

const BINARY: { [op: string]: number } = { '||': 2, '&&': 3, '==': 4, '!=': 4, '<': 5, '<=': 5, '>': 5, '>=': 5, in: 5, '+': 6, '-': 6, '*': 7, '/': 7, '%': 7 };
/** Methods that are not those of the library. */
const OURS: ReadonlySet<string> = new Set(['matches', 'join', 'split']);
const [TERNARY, UNARY, POSTFIX] = [1, 8, 9];

class Printer {
  #text = '';
  /** Loops that we are inside of. */
  #loops = 0;
  readonly #spans: Array<{ start: number; end: number; node: Node }> = [];
  readonly #slots: ReadonlyMap<Node, NamedSlot>;
  readonly #loose: ReadonlySet<Node>;

  constructor(slots: readonly NamedSlot[], loose: ReadonlySet<Node>) {
    this.#slots = new Map(slots.map((slot) => [slot.node, slot]));
    this.#loose = loose;
  }

  finish(): Printed {
    const spans = this.#spans;
    return {
      text: this.#text,
      nodeAt({ start, end }) {
        let best: (typeof spans)[number] | undefined;
        for (const span of spans) {
          if (span.start <= start && span.end >= end && (best === undefined || span.end - span.start < best.end - best.start)) best = span;
        }
        return best?.node;
      },
    };
  }

  print(node: Node, least: number): void {
    const start = this.#text.length;
    if (this.#loose.has(node)) this.#call('dyn', () => this.#node(node, 0));
    else this.#node(node, least);
    this.#spans.push({ start, end: this.#text.length, node });
  }

  #node(node: Node, least: number): void {
    const slot = this.#slots.get(node);
    if (slot !== undefined) this.#text += slot.variable;
    else if (callOf(node) !== undefined) this.#printCall(node);
    else if (linkOf(node) !== undefined) this.#access(node, false);
    else if (BINARY[node.op] !== undefined) this.#binary(node, BINARY[node.op] as number, least);
    else this.#other(node, least);
  }

  #other(node: Node, least: number): void {
    switch (node.op) {
      case 'id':
        this.#text += node.args as string;
        return;
      case 'value':
        this.#text += literal(node.args);
        return;
      case '?:': {
        const [condition, yes, no] = node.args as [Node, Node, Node];
        this.#group(least > TERNARY, () => {
          this.print(condition, TERNARY + 1);
          this.#text += ' ? ';
          this.print(yes, TERNARY);
          this.#text += ' : ';
          this.print(no, TERNARY);
        });
        return;
      }
      case '!_':
      case '-_':
        this.#group(least > UNARY, () => {
          this.#text += node.op[0] as string;
          this.print(node.args as Node, UNARY);
        });
        return;
      case 'list':
        this.#text += '[';
        this.#list(node.args as Node[]);
        this.#text += ']';
        return;
      case 'map':
        this.#map(node.args as Array<[Node, Node]>);
        return;
      default:
        throw new Error(`no way to write a node "${node.op}"`);
    }
  }

  #binary(node: Node, precedence: number, least: number): void {
    const [left, right] = node.args as [Node, Node];
    const write = () => {
      this.#operand(left, precedence, node.op);
      this.#text += ` ${node.op} `;
      this.#operand(right, precedence + 1, node.op);
    };
    const whole = precedence >= 6 && isWhole(left) && isWhole(right);
    if (node.op === '/') this.#call('_finite', write);
    else if (whole && node.op !== '%') this.#call('_exact', write);
    else this.#group(least > precedence, write);
  }

  /** What is done to a value inside a loop is paid for by its size. */
  #operand(node: Node, least: number, op: string): void {
    if (this.#loops === 0 || node.op === 'value' || op === '&&' || op === '||') this.print(node, least);
    else this.#call('_paid', () => this.print(node, 0));
  }

  /** Names and indexes; with `optional` the whole chain gives an optional value. */
  #access(node: Node, optional: boolean): void {
    const { object, link } = linkOf(node) as NonNullable<ReturnType<typeof linkOf>>;
    if (optional) this.#optional(object);
    else this.print(object, POSTFIX);
    const asked = optional || link.optional;
    if (node.op === '.' || node.op === '.?') {
      this.#text += `${asked ? '.?' : '.'}${link.key as string}`;
      return;
    }
    this.#text += asked ? '[?' : '[';
    if (typeof link.key === 'string') this.#text += literal(link.key);
    else if (link.key.op === 'value' && typeof link.key.args === 'bigint') this.#text += String(link.key.args);
    else this.#call('_index', () => this.print(link.key as Node, 0));
    this.#text += ']';
  }

  #optional(node: Node): void {
    if (this.#slots.has(node) || linkOf(node) === undefined) this.print(node, POSTFIX);
    else this.#access(node, true);
  }

  #printCall(node: Node): void {
    const { name, receiver, args } = callOf(node) as NonNullable<ReturnType<typeof callOf>>;
    if (receiver === undefined && (name === 'has' || name === 'default')) {
      this.#optional(args[0] as Node);
      this.#text += name === 'has' ? '.hasValue(' : '.orValue(';
      this.#list(args.slice(1));
      this.#text += ')';
      return;
    }
    const counts = (receiver === undefined ? COUNTING_FUNCTIONS : COUNTING_METHODS).has(name);
    this.#text += counts ? '_n(' : '';
    if (receiver !== undefined) {
      if (MACROS.has(name)) this.#call('_turns', () => this.print(receiver, 0));
      else this.#operand(receiver, POSTFIX, '.');
      this.#text += '.';
    }
    this.#text += `${receiver !== undefined && OURS.has(name) ? '_' : ''}${name}(`;
    if (receiver !== undefined && MACROS.has(name)) {
      this.#text += (args[0] as Node).op === 'id' ? ((args[0] as Node).args as string) : '_';
      this.#text += ', ';
      this.#loops += 1;
      this.#list(args.slice(1));
      this.#loops -= 1;
    } else this.#list(args, true);
    this.#text += counts ? '))' : ')';
  }

  #map(entries: ReadonlyArray<readonly [Node, Node]>): void {
    this.#text += '{';
    for (const [i, [key, value]] of entries.entries()) {
      this.#text += i === 0 ? '' : ', ';
      if (key.op === 'value' && typeof key.args === 'string') this.#text += literal(key.args);
      else this.#call('_key', () => this.print(key, 0));
      this.#text += ': ';
      this.print(value, 0);
    }
    this.#text += '}';
  }

  #list(items: readonly Node[], paid = false): void {
    for (const [i, item] of items.entries()) {
      this.#text += i === 0 ? '' : ', ';
      if (paid) this.#operand(item, 0, ',');
      else this.print(item, 0);
    }
  }

  #call(name: string, write: () => void): void {
    this.#text += `${name}(`;
    write();
    this.#text += ')';
  }

  #group(needed: boolean, write: () => void): void {
    this.#text += needed ? '(' : '';
    write();
    this.#text += needed ? ')' : '';
  }
}

function literal(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return `${value}.0`;
    case 'number':
      return /[.e]/.test(String(value)) ? String(value) : `${value}.0`;
    case 'string':
      return `"${value.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r')}"`;
    case 'object':
      return value instanceof Uint8Array ? `b"${[...value].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"` : 'null';
    default:
      return String(value);
  }
}
