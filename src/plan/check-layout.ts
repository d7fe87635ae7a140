// What the layout of a file shows before its keys are read: a file of another tool, steps that are not indented, steps as a
// list. Each would give a problem for every line; it is told once, and nothing else then.
import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
import { KINDS } from './authored.js';
import type { Finding } from './problem-list.js';
import { rangeOf } from './read-tree.js';
import type { SourceText } from './source-text.js';
import { entriesOf, resolve, textOf, type Entry } from './yaml-entries.js';
import type { YamlTree } from './yaml-document.js';
import { quote } from '../core/suggest.js';

/** The one problem of a file whose layout is not that of a plan. */
export function layoutFault(tree: YamlTree, source: SourceText): Finding | undefined {
  const root = resolve(tree.root, tree);
  if (isMap(root)) {
    const entries = new Map(entriesOf(root, tree).map((entry) => [entry.key, entry]));
    return foreignMapping(entries, tree) ?? layoutOfSteps(entries, tree);
  }
  if (isSeq(root)) return foreignList(root.items as Node[], tree);
  return foreignText(source.text);
}

type Entries = ReadonlyMap<string, Entry>;

interface Tool {
  name: string;
  /** The key that shows it. */
  key: string;
  also: (entries: Entries, tree: YamlTree) => boolean;
}

const has = (...keys: string[]) => (entries: Entries) => keys.some((key) => entries.has(key));
const always = () => true;

// A file that says `plan:` is a plan, whatever else is in it.
const TOOLS: readonly Tool[] = [
  { name: 'a workflow of GitHub Actions', key: 'jobs', also: has('on', 'true', 'permissions', 'runs-on') },
  { name: 'a pipeline of CircleCI', key: 'jobs', also: has('workflows', 'orbs') },
  { name: 'an action of GitHub Actions', key: 'runs', also: has('name', 'inputs') },
  { name: 'a resource of Kubernetes (such as an Argo or Tekton workflow)', key: 'apiVersion', also: has('kind') },
  { name: 'a file of Docker Compose', key: 'services', also: always },
  { name: 'a Taskfile', key: 'tasks', also: (entries) => entries.has('version') && !entries.has('name') },
  { name: 'a DAG of Airflow', key: 'default_args', also: always },
  { name: 'a DAG of Airflow', key: 'dag_id', also: always },
  { name: 'a flow of Kestra', key: 'namespace', also: has('tasks') },
  { name: 'a pipeline of GitLab', key: 'stages', also: (entries, tree) => isSeq(resolve(entries.get('stages')?.valueNode, tree)) && !entries.has('steps') },
  { name: 'a pipeline of Azure', key: 'trigger', also: has('pool', 'stages', 'jobs') },
  { name: 'a package.json', key: 'scripts', also: has('dependencies', 'devDependencies', 'version') },
  { name: 'a pre-commit configuration', key: 'repos', also: always },
  { name: 'a DAG of Dagu', key: 'steps', also: isDagu },
];

function isDagu(entries: Entries, tree: YamlTree): boolean {
  const steps = resolve(entries.get('steps')?.valueNode, tree);
  if (!isSeq(steps)) return false;
  const [first] = steps.items.map((item) => resolve(item as Node, tree));
  const keys = isMap(first) ? keysOf(first, tree) : [];
  return has('schedule', 'handlerOn', 'handler_on', 'maxActiveRuns', 'histRetentionDays', 'mailOn', 'smtp', 'dotenv', 'logDir', 'preconditions')(entries) || (keys.includes('name') && (keys.includes('command') || keys.includes('depends')));
}

function foreignMapping(entries: Entries, tree: YamlTree): Finding | undefined {
  if (entries.has('plan')) return undefined;
  const tool = TOOLS.find(({ key, also }) => entries.has(key) && also(entries, tree));
  if (tool !== undefined) return foreign(tool.name, rangeOf(entries.get(tool.key)?.keyNode));
  const dag = entries.has('steps') || entries.size > 100 ? undefined : [...entries.values()].find(({ valueNode }) => isAirflow(resolve(valueNode, tree), tree));
  return dag === undefined ? undefined : foreign('a DAG of Airflow', rangeOf(dag.keyNode));
}

function isAirflow(value: Node | null, tree: YamlTree): boolean {
  const keys = isMap(value) ? keysOf(value, tree) : [];
  return keys.includes('tasks') && (keys.includes('default_args') || keys.includes('schedule_interval'));
}

function foreignList(items: readonly Node[], tree: YamlTree): Finding | undefined {
  const first = resolve(items[0], tree);
  const keys = isMap(first) ? keysOf(first, tree) : [];
  return keys.includes('hosts') ? foreign('a playbook of Ansible', rangeOf(first)) : undefined;
}

const PROGRAMS: ReadonlyArray<[RegExp, string]> = [
  [/^#!/, 'a script'],
  [/^(?:from\s+[\w.]+\s+import\b|import\s+\w+|def\s+\w+\(|with\s+DAG\()/m, 'a program in Python'],
  [/^FROM\s+\S+/m, 'a Dockerfile'],
  [/^(?:pipeline|node)\s*\{/m, 'a Jenkinsfile'],
  [/^[\w.-]+:.*\n\t/m, 'a Makefile'],
];

/** A text that is no YAML, or only one scalar, and what it looks like. */
export function foreignText(text: string): Finding | undefined {
  const head = text.slice(0, 5000);
  if (/^(?:plan|steps)\s*:/m.test(head)) return undefined;
  const found = PROGRAMS.find(([pattern]) => pattern.test(head));
  return found === undefined ? undefined : foreign(found[1], { start: 0, end: 1 });
}

function foreign(name: string, range: { start: number; end: number }): Finding {
  return { code: 'foreign_file', message: `expected a plan, found what looks like ${name}`, hint: 'a plan begins with "plan: 1", "name: …" and "steps:", a mapping of steps by their ids', path: [], ...range };
}

function layoutOfSteps(entries: Entries, tree: YamlTree): Finding | undefined {
  for (const section of ['steps', 'finally'] as const) {
    const entry = entries.get(section);
    if (entry === undefined) continue;
    const value = resolve(entry.valueNode, tree);
    if (isSeq(value) && value.items.length > 0) return listOfSteps(section, value.items[0] as Node, entry, tree);
    const fault = isNothing(value) ? stepsBeside(section, entry, entries, tree) : isMap(value) ? keysBeside(section, value, tree) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function listOfSteps(section: string, item: Node, { keyNode }: Entry, tree: YamlTree): Finding {
  const first = resolve(item, tree);
  const named = isMap(first) ? entriesOf(first, tree).find(({ key }) => ['id', 'name', 'step', 'task'].includes(key)) : undefined;
  const name = resolve(named?.valueNode, tree);
  const id = isScalar(name) ? textOf(name).toLowerCase().replace(/[^\w-]+/g, '_').replace(/^(?=[\d-])/, '_').slice(0, 40) : undefined;
  const hint = id === undefined || id === '' ? 'give each step an id: "build:" instead of "-", its keys indented below' : `write "${id}:" instead of "- ${named?.key as string}: …", the other keys of the step indented below`;
  return { code: 'wrong_type', message: `expected a mapping of steps by their ids, found a list`, hint, path: [section], ...rangeOf(keyNode) };
}

// `steps:` with nothing below, and beside it what look like steps.
function stepsBeside(section: string, { keyNode }: Entry, entries: Entries, tree: YamlTree): Finding | undefined {
  const stray = [...entries.values()].find(({ key, valueNode, keyNode: at }) => !KNOWN.has(key) && rangeOf(at).start > rangeOf(keyNode).start && looksLikeStep(resolve(valueNode, tree), tree));
  if (stray === undefined) return undefined;
  return { code: 'empty', message: `nothing is indented below "${section}": ${quote(stray.key)} stands beside it`, hint: 'indent the steps, two spaces deeper than the word', path: [section], ...rangeOf(keyNode) };
}

const KNOWN = new Set(['plan', 'name', 'description', 'params', 'env', 'secrets', 'defaults', 'budget', 'steps', 'finally', 'outputs']);
const STEP_WORDS: ReadonlySet<string> = new Set([...KINDS, 'command', 'script', 'cmd', 'uses']);

function looksLikeStep(value: Node | null, tree: YamlTree): boolean {
  return isMap(value) && keysOf(value, tree).some((key) => STEP_WORDS.has(key));
}

// A step with nothing below, followed by keys of a step as if they were steps.
function keysBeside(section: string, steps: YAMLMap, tree: YamlTree): Finding | undefined {
  const entries = entriesOf(steps, tree);
  if (entries.length > 1000) return undefined;
  const at = entries.findIndex(({ valueNode }, index) => {
    const next = entries[index + 1];
    return isNothing(resolve(valueNode, tree)) && next !== undefined && STEP_WORDS.has(next.key) && !looksLikeStep(resolve(next.valueNode, tree), tree);
  });
  const entry = entries[at];
  if (entry === undefined) return undefined;
  return { code: 'empty', message: `nothing is indented below the step ${quote(entry.key)}: ${quote(entries[at + 1]?.key as string)} stands beside it`, hint: 'indent the keys of the step, two spaces deeper than its id', path: [section, entry.key], ...rangeOf(entry.keyNode) };
}

const keysOf = (map: YAMLMap, tree: YamlTree) => entriesOf(map, tree).map(({ key }) => key);
const isNothing = (value: Node | null) => value === null || (isScalar(value) && value.value === null);
