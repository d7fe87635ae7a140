// Which numbers of an expression are integers by their making.
import { COUNTING_FUNCTIONS, COUNTING_METHODS } from './functions.js';
import { callOf, type Node } from './syntax.js';

/**
 * Whether a node always gives an integer: it is written as one, counted, or computed of such.
 * @param read whether a value of the plan is one; left out, none is (its type is not known when it is evaluated)
 */
export function isWhole(node: Node, read: (node: Node) => boolean = () => false): boolean {
  if (read(node)) return true;
  const call = callOf(node);
  if (call !== undefined) return (call.receiver === undefined ? COUNTING_FUNCTIONS : COUNTING_METHODS).has(call.name);
  switch (node.op) {
    case 'value':
      return typeof node.args === 'bigint';
    case '-_':
      return isWhole(node.args as Node, read);
    case '+':
    case '-':
    case '*':
    case '%': {
      const [left, right] = node.args as [Node, Node];
      return isWhole(left, read) && isWhole(right, read);
    }
    case '?:': {
      const [, yes, no] = node.args as [Node, Node, Node];
      return isWhole(yes, read) && isWhole(no, read);
    }
    default:
      return false;
  }
}
