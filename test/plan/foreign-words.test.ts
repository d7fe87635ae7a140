// One mistake, one problem: what people write who know another tool, as rows of what is written and what is said.
import { describe, expect, test } from 'vitest';
import { loadPlan } from '../../src/plan/load.js';

async function told(source: string): Promise<string[]> {
  const result = await loadPlan({ source });
  return (result.ok ? result.warnings : result.problems).map(({ line, column, code, message, hint }) => `${line}:${column} ${code}: ${message} | ${hint ?? ''}`);
}

const HEAD = 'plan: 1\nname: t\n';
const one = async (source: string, place: string, said: RegExp) => {
  const problems = await told(source);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${place} `));
  expect(problems[0]).toMatch(said);
};

describe('a key at a step', () => {
  test.each([
    ['with: { x: 1 }', /by "env"/],
    ['timeoutSec: 5', /timeout: 5m/],
    ['timeout-minutes: 5', /timeout: 5m/],
    ['schedule: "* * * * *"', /no schedule/],
    ['continueOn: { failure: true }', /continue_on_error: true/],
    ['continue-on-error: true', /"continue_on_error"/],
    ['retries: 3', /retry: \{ max_attempts/],
    ['retryPolicy: { limit: 3 }', /retry: \{ max_attempts/],
    ['retry_delay: 5s', /retry: \{ delay/],
    ['name: Build', /"description"/],
    ['id: a', /is its id/],
    ['handlerOn: { failure: x }', /after: failure/],
    ['on_failure: x', /after: failure/],
    ['image: node', /no containers/],
    ['depends: b', /"needs"/],
    ['depends_on: [b]', /"needs"/],
    ['dependsOn: [b]', /"needs"/],
    ['when: "true"', /"if"/],
    ['environment: { A: b }', /"env"/],
    ['working-directory: x', /"cwd"/],
    ['matrix: { a: [1] }', /one step for each item/],
    ['foreach: [1]', /one step for each item/],
    ['args: [x]', /run: \[command/],
    ['trigger_rule: all_done', /"after"/],
    ['secrets: [T]', /under "secrets" of the plan/],
    ['always: true', /after: any/],
    ['unless: x', /turn the condition around/],
    ['steps: []', /no steps in them/],
    ['type: shell', /kind of a step is a key/],
    ['concurrency: 2', /key of the plan/],
    ['user: root', /the user who runs plan/],
    ['output: x', /"outputs"/],
    ['stderr: x', /log of the step/],
  ])('%s', (key, said) => one(`${HEAD}steps:\n  a: { run: x, ${key} }\n  b: { run: y }\n`, '4:16', said));

  test.each([
    ['uses: actions/checkout@v4', /no ready-made actions/],
    ['command: x', /"run"/],
    ['script: [a, b]', /"run"/],
    ['cmd: x', /"run"/],
    ['bash: x', /"run"/],
    ['sleep: 5', /"wait"/],
    ['url: "https://x"', /http: \{ url/],
    ['get: "https://x"', /http: \{ url/],
    ['python: x', /shell: \[python3, -c\]/],
    ['approve: { title: x }', /asks a person/],
    ['agent: {}', /no such kind/],
  ])('%s in the place of a kind', (key, said) => one(`${HEAD}steps:\n  a: { ${key} }\n`, '4:8', said));
});

test.each([
  ['jobs: { a: { run: x } }', /"steps"/],
  ['inputs: { a: x }', /"params"/],
  ['variables: { A: b }', /"env"/],
  ['schedule: "0 1 * * *"', /no schedule/],
  ['retry: { max_attempts: 2 }', /"defaults"/],
  ['max_parallel: 2', /"concurrency"/],
])('a key of the plan: %s', (key, said) => one(`${HEAD}${key}\n${key.startsWith('jobs') ? '' : 'steps: { a: { run: x } }\n'}`, '3:1', said));

describe('a value of another form', () => {
  test.each([
    ['http: "https://x"', 14, /http: \{ url: https:\/\/x \}/],
    ['wait: 5s', 14, /wait: \{ for: 5s \}/],
    ['wait: 5', 14, /the number 5.*wait: \{ for: 5s \}/],
    ['wait: 2026-12-01T09:00:00Z', 14, /wait: \{ until: 2026/],
    ['call: ./m.js#x', 14, /call: \{ function: \.\/m\.js#x \}/],
    ['set: x', 13, /set: \{ name: x \}/],
    ['run: { script: x }', 13, /a script as text/],
    ['run: x, retry: 3', 23, /retry: \{ max_attempts: 3 \}/],
    ['run: x, needs: b', 23, /\[b\]/],
    ['run: x, needs: { b: 1 }', 23, /\[b\]/],
    ['run: x, env: [A=b]', 21, /env: \{ NAME: value \}/],
    ['run: x, outputs: [v]', 25, /outputs: \{ name: string \}/],
    ['run: x, continue_on_error: "true"', 35, /without quotes: true/],
    ['run: x, retry: { max_attempts: "3" }', 39, /the text "3".*without quotes: 3/],
    ['run: x, after: [success]', 23, /success, failure or any/],
    ['run: x, after: always', 23, /"any"/],
    ['run: x, after: failed', 23, /"failure"/],
    ['run: x, stdout: string', 24, /"text"/],
    ['run: x, stdout: true', 24, /text, json or lines/],
    ['run: x, retry: { backoff: fixed }', 34, /"constant"/],
    ['run: x, timeout: 5', 25, /the number 5.*5s, 5m/],
    ['run: x, timeout: 5 min', 25, /write 5m/],
    ['run: x, timeout: 1 hour 30 minutes', 25, /write 1h30m/],
    ['run: x, timeout: PT1H5M', 25, /write 1h5m/],
    ['run: x, timeout: "01:30:00"', 25, /write 1h30m/],
    ['run: x, timeout: "${{ params.t }}"', 25, /no expression can stand here/],
    ['run: x, needs: [steps.b]', 24, /the id alone: b/],
    ['run: x, needs: ["${{ steps.b }}"]', 24, /the id alone: b/],
    ['run: x, outputs: { v: int }', 30, /"integer"/],
    ['run: x, outputs: { v: dict }', 30, /"object"/],
  ])('%s', (keys, column, said) => one(`${HEAD}steps:\n  a: { ${keys} }\n  b: { run: x }\n`, `4:${column}`, said));

  test.each([['int', 'integer'], ['str', 'string'], ['bool', 'boolean'], ['float', 'number'], ['list', 'array'], ['map', 'object'], ['String', 'string']])('a param of the type %s', (type, meant) =>
    one(`${HEAD}params: { p: { type: ${type}, default: x } }\nsteps: { a: { run: x } }\n`, '3:22', new RegExp(`"${meant}"`)));
  test('a param that is a type', () => one(`${HEAD}params: { p: int }\nsteps: { a: { run: x } }\n`, '3:14', /p: \{ type: integer \}/));
  test('a step id with a space', () => one(`${HEAD}steps:\n  my step: { run: x }\n`, '4:3', /write my_step/));
});

test('each wrong entry of a list is told at its place', async () => {
  const problems = await told(`${HEAD}steps:\n  a:\n    run: x\n    retry:\n      retry_on:\n        - timeout\n        - 5xx\n        - bar\n      give_up_on: [exit:x, http:9]\n`);
  expect(problems.map((text) => text.split(':', 3).slice(0, 2).join(':').replace(/ .*/, ''))).toEqual(['9:11', '10:11', '11:20', '11:28']);
});

describe('an expression of another tool', () => {
  const inIf = (condition: string) => `${HEAD}params: { p: { type: string, default: x } }\nsteps:\n  z: { run: z, outputs: { v: integer } }\n  a:\n    run: x\n    if: ${condition}\n`;
  test.each([
    ['always()', 9, /after: any/],
    ['failure()', 9, /after: failure/],
    ['success()', 9, /leave it out/],
    ['"!cancelled()"', 11, /session\.status == "cancelled"/],
    ['params.p =~ "x"', 18, /matches\("pattern"\)/],
    ['params.p <> "x"', 19, /write !=/],
    ['"${{ params.p }} && true"', 10, /around the whole expression/],
    ['len(params.p) > 3', 9, /size\(x\)/],
    ['contains(params.p, "x")', 9, /behind the value/],
    ['inputs.p == "x"', 9, /params\.NAME/],
    ['needs.z.result == "x"', 9, /steps\.ID/],
    ['github.ref == "x"', 9, /env\./],
    ['matrix.x == "x"', 9, /one step for each item/],
    ['steps.z.output.v == 1', 9, /outputs\.NAME/],
    ['steps.z.outcome == "success"', 9, /write status/],
    ['steps.z.stdout == "x"', 9, /write result/],
    ['steps.z.exit_code == 0', 9, /status == "failed"/],
    ['yes', 9, /write true/],
  ])('%s', (condition, column, said) => one(inIf(condition), `8:${column}`, said));
});

describe('the layout of a file', () => {
  test.each([
    ['a workflow of GitHub Actions', 'name: CI\non: [push]\njobs:\n  build:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n', '3:1'],
    ['Argo', 'apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: {}\n', '1:1'],
    ['Python', 'from airflow import DAG\nwith DAG("x") as dag:\n    t = BashOperator(task_id="x")\n', '1:1'],
    ['Airflow', 'my_dag:\n  default_args: { owner: x }\n  tasks: { a: { operator: x } }\n', '1:1'],
    ['Docker Compose', 'services:\n  web: { image: nginx }\n', '1:1'],
    ['Taskfile', 'version: "3"\ntasks:\n  build: { cmds: [go build] }\n', '2:1'],
    ['Dagu', 'schedule: "0 1 * * *"\nsteps:\n  - name: a\n    command: echo\n', '2:1'],
    ['GitLab', 'stages: [build]\nbuild: { script: [make] }\n', '1:1'],
    ['Ansible', '- hosts: all\n  tasks: []\n', '1:3'],
    ['a script', '#!/bin/bash\necho hi\n', '1:1'],
    ['Makefile', 'all:\n\techo x\n', '1:1'],
  ])('looks like %s', (name, source, place) => one(source, place, new RegExp(`foreign_file: .*${name}`)));

  test('of a plan is not judged by words of other tools', async () => {
    expect(await told(`${HEAD}services: {}\nsteps: { a: { run: x } }\n`)).toEqual([expect.stringMatching(/unknown_key/)]);
    expect(await told('name: t\nsteps: { a: { run: x } }\n')).toEqual([expect.stringMatching(/missing_key: the key "plan"/)]);
    expect(await told('name: t\nsteps:\n\ta: { run: x }\n')).toEqual([expect.stringMatching(/yaml_syntax/)]);
  });

  test.each([
    ['steps that are not indented', 'steps:\na:\n  run: x\nb:\n  run: y\n', '3:1', /"a" stands beside it.*indent/],
    ['keys of a step that are not indented', 'steps:\n  a:\n  run: x\n  needs: [b]\n  b:\n    run: x\n', '4:3', /"run" stands beside it.*indent/],
    ['steps as a list', 'steps:\n  - run: x\n  - run: y\n', '3:1', /found a list.*an id/],
    ['steps as a list with ids', 'steps:\n  - id: build it\n    run: x\n', '3:1', /"build_it:" instead of "- id/],
    ['steps of GitHub Actions', 'steps:\n  - name: Build\n    uses: x\n  - run: y\n', '3:1', /"build:" instead of "- name/],
    ['braces in brackets', 'steps:\n  a: { run: [echo, ${{ params.x }}] }\n', '4:20', /put quotes: "\$\{\{ params\.x \}\}"/],
    ['braces of two kinds', 'steps:\n  a:\n    run: x\n    env:\n      V: {{ params.x }}\n', '7:11', /in quotes/],
    ['an open quote', 'steps:\n  a:\n    run: "echo\n  b:\n    run: x\n', '5:10', /opens here/],
    ['a quote that the next one closes', 'steps:\n  a:\n    run: "echo\n  b:\n    run: "x"\n', '5:10', /opens here/],
    ['a quote that is open in brackets', 'steps:\n  a: { run: [x, "y] }\n  b: { run: ["z"] }\n', '4:17', /opens here/],
    ['a command in one item', 'steps:\n  a: { run: [echo hi] }\n', '4:14', /one_argument.*\[echo, hi\]/],
    ['outputs of GitHub Actions', 'steps:\n  a:\n    run: echo "x=1" >> $GITHUB_OUTPUT\n', '5:24', /foreign_output.*\$PLAN_OUTPUT/],
    ['outputs by a command of GitHub Actions', 'steps:\n  a: { run: "echo ::set-output name=x::1" }\n', '4:19', /foreign_output.*\$PLAN_OUTPUT/],
    ['outputs of several lines', 'steps:\n  a:\n    outputs: { x: string }\n    run: |\n      echo "x<<EOF" >> "$PLAN_OUTPUT"\n      cat f >> "$PLAN_OUTPUT"\n', '7:7', /foreign_output.*line of JSON/],
  ])('%s', (_, body, place, said) => one(HEAD + body, place, said));

  test('texts of several lines in quotes, and commands with spaces in a folder, are no fault', async () => {
    expect(await told(`${HEAD}steps:\n  a:\n    run: "one\n      two"\n    stdin: "x"\n  b: { run: ["./my tools/run"] }\n`)).toEqual([]);
  });
});

test('a frame that is cut at its left shows it', async () => {
  const result = await loadPlan({ source: `${HEAD}steps:\n  a: { run: x, description: "${'d'.repeat(150)}", neds: [b] }\n` });
  const frame = result.ok ? '' : (result.problems[0]?.frame ?? '');
  expect(frame).toMatch(/\n4 \| …d+", neds: \[b\] \}\n {2}\| +\^{4}$/);
  const [, line = '', caret = ''] = frame.split('\n');
  expect(line.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1)).toBe('neds');
});
