import { describe, expect, test } from 'vitest';
import { loadPlan } from '../../src/plan/load.js';

type Expected = [code: string, line: number, column: number];

const HEAD = 'plan: 1\nname: t\n';
/** Steps from line 4 on. */
const steps = (text: string) => `${HEAD}steps:\n${text}`;

async function problemsOf(source: string): Promise<Expected[]> {
  const result = await loadPlan({ source });
  return (result.ok ? result.warnings : result.problems).map(({ code, line, column }) => [code, line, column]);
}

const TABLES: Array<[group: string, rows: Array<[title: string, source: string, expected: Expected[]]>]> = [
  ['the file', [
    ['an empty file', '', [['empty_file', 1, 1]]],
    ['a file of comments', '# nothing\n---\n', [['empty_file', 1, 1]]],
    ['a list', '- a\n', [['wrong_type', 1, 1]]],
    ['a second document', `${steps('  a: { run: x }\n')}---\nplan: 1\n`, [['second_document', 5, 1]]],
    ['a tab as indent', `${HEAD}steps:\n\ta: { run: x }\n`, [['yaml_syntax', 4, 1]]],
    ['an open quote', steps('  a: { run: "x }\n'), [['yaml_syntax', 4, 13]]],
    ['nesting without end', `a: ${'['.repeat(100_000)}`, [['too_deep', 1, 138]]],
    ['more than 64 levels', `${steps('  a: { set: { v: ')}${'['.repeat(70)}${']'.repeat(70)} } }`, [['too_deep', 4, 79]]],
    ['an alias of nothing', steps('  a: *b\n'), [['unknown_alias', 4, 6]]],
    ['an alias inside its anchor', steps('  a: { set: { v: &v [1, *v] } }\n'), [['alias_cycle', 4, 25]]],
    ['a YAML 1.1 directive', `%YAML 1.1\n---\n${steps('  a: { run: x }\n')}`, [['yaml_version', 1, 1]]],
    ['a tag', steps('  a: { run: !!binary aGk= }\n'), [['unknown_tag', 4, 13]]],
    ['a key that is a list', steps('  [a]: { run: x }\n  b: { run: x }\n'), [['bad_key', 4, 3]]],
    ['a NUL character', steps('  a: { run: "x\\0" }\n'), [['nul_character', 4, 13]]],
  ]],
  ['keys', [
    ['an unknown key with a near one', steps('  a: { run: x, neds: [] }\n'), [['unknown_key', 4, 16]]],
    ['a misspelt kind is one problem, and is read as what it means', steps('  a: { rum: x, outputs: { v: string } }\n  b: { run: y, env: { V: "${{ steps.a.outputs.v }}" } }\n'), [['unknown_key', 4, 8]]],
    ['a misspelt "outputs" does not make its readers wrong', steps('  a: { run: x, ouputs: { v: string } }\n  b: { run: y, env: { V: "${{ steps.a.outputs.v }}" } }\n'), [['unknown_key', 4, 16]]],
    ['a misspelt "params" does not make its readers wrong', `${HEAD}parms: { p: { type: string } }\nsteps:\n  a: { run: x, env: { V: "\${{ params.p }}" } }\n`, [['unknown_key', 3, 1]]],
    ['a fault below a misspelt key is found where it stands', `${HEAD}parms: { p: { type: strng } }\nsteps: { a: { run: x, stdin: "\${{ params.p }}" } }\n`, [['unknown_key', 3, 1], ['bad_value', 3, 21]]],
    ['an output with a wrong type is known to its readers', steps('  a: { run: x, outputs: { v: strng } }\n  b: { run: y, stdin: "${{ steps.a.outputs.v }}" }\n'), [['bad_value', 4, 30]]],
    ['params that are a number are one problem, whoever reads them', `${HEAD}params: 5\nsteps: { a: { run: x, stdin: "\${{ params.p }}" } }\n`, [['wrong_type', 3, 9]]],
    ['secrets that are no list are one problem, whoever reads them', `${HEAD}secrets: T\nsteps: { a: { run: x, stdin: "\${{ secrets.T }}" } }\n`, [['wrong_type', 3, 10]]],
    ['the steps of another tool are not missing as well', `${HEAD}jobs: { a: { steps: [] } }\n`, [['unknown_key', 3, 1]]],
    ['a key of another tool', steps('  a: { run: x, depends_on: [] }\n'), [['unknown_key', 4, 16]]],
    ['a kind of a newer language', steps('  a: { approve: { title: x } }\n'), [['unknown_key', 4, 8]]],
    ['a repeated key', steps('  a:\n    run: old\n    run: new\n'), [['duplicate_key', 6, 5]]],
    ['a repeated key inside a flow mapping', steps('  a: { run: x, env: { A: "1", A: "2" } }\n'), [['duplicate_key', 4, 31]]],
    ['missing keys of the plan', 'steps: { a: { run: x } }\n', [['missing_key', 1, 1], ['missing_key', 1, 1]]],
    ['a missing url', steps('  a: { http: { method: GET } }\n'), [['missing_key', 4, 8]]],
    ['no kind', steps('  a: { needs: [] }\n'), [['missing_kind', 4, 3]]],
    ['two kinds', steps('  a: { run: x, set: { v: 1 } }\n'), [['conflicting_keys', 4, 16]]],
    ['json and body', steps('  a: { http: { url: "https://u", json: 1, body: x } }\n'), [['conflicting_keys', 4, 43]]],
    ['for and until', steps('  a: { wait: { for: 1s, until: x } }\n'), [['conflicting_keys', 4, 25]]],
    ['stdin on http', steps('  a: { http: { url: "https://u" }, stdin: x }\n'), [['key_not_for_kind', 4, 36]]],
    ['a shell for a command that is a list', steps('  a: { run: [x], shell: bash }\n'), [['key_not_for_kind', 4, 18]]],
    ['outputs on a check', steps('  a: { check: "true", outputs: { v: string } }\n'), [['key_not_for_kind', 4, 23]]],
  ]],
  ['values', [
    ['a bare number as a duration', steps('  a: { run: x, timeout: 30 }\n'), [['bad_duration', 4, 25]]],
    ['a timeout of zero', steps('  a: { run: x, timeout: 0s }\n'), [['bad_duration', 4, 25]]],
    ['text for a number', steps('  a: { run: x, retry: { max_attempts: three } }\n'), [['wrong_type', 4, 39]]],
    ['a wrong word', `${HEAD}scheduling: layerd\nsteps: { a: { run: x } }\n`, [['bad_value', 3, 13]]],
    ['steps that are a number', `${HEAD}steps: 5\n`, [['wrong_type', 3, 8]]],
    ['a step that is a text', steps('  a: x\n'), [['wrong_type', 4, 6]]],
    ['yes for true', steps('  a: { run: x, continue_on_error: yes }\n'), [['wrong_type', 4, 35]]],
    ['no steps', `${HEAD}steps: {}\n`, [['empty', 3, 8]]],
    ['a number that would change in JSON', steps('  a: { set: { v: 3.10 } }\n'), [['ambiguous_number', 4, 18]]],
    ['a number that would lose digits', steps('  a: { set: { v: 12345678901234567890 } }\n'), [['unsafe_number', 4, 18]]],
    ['a mapping for the value of a variable', steps('  a: { run: x, env: { A: { x: "1" } } }\n'), [['wrong_type', 4, 26]]],
    ['an unknown error class', steps('  a: { run: x, retry: { retry_on: [5xx] } }\n'), [['bad_error_class', 4, 36]]],
    ['a newer plan language hides everything else', 'plan: 2\nnames: x\nsteps: 3\n', [['unknown_language_version', 1, 7]]],
    ['a time without offset', steps('  a: { wait: { until: 2026-12-01T09:00:00 } }\n'), [['bad_time', 4, 23]]],
    ['a duration to wait without unit', steps('  a: { wait: { for: 10 } }\n'), [['bad_duration', 4, 21]]],
    ['an attempt longer than its step', steps('  a: { run: x, timeout: 5s, attempt_timeout: 1m }\n'), [['limit_never_reached', 4, 46]]],
    ['a step longer than the plan', `${HEAD}timeout: 1m\nsteps: { a: { run: x, timeout: 1h } }\n`, [['limit_never_reached', 4, 32]]],
    ['a module that is not there', steps('  a: { call: { function: ./no-such.js#f } }\n'), [['module_not_found', 4, 26]]],
    ['a variable of the program itself', steps('  a: { run: x, env: { PLAN_OUTPUT: x } }\n'), [['reserved_env', 4, 23]]],
  ]],
  ['params', [
    ['a default of another type', `${HEAD}params: { n: { type: integer, default: x } }\nsteps: { a: { run: x } }\n`, [['bad_default', 3, 40]]],
    ['a default outside the enum', `${HEAD}params: { n: { type: string, enum: [a, b], default: c } }\nsteps: { a: { run: x } }\n`, [['bad_default', 3, 53]]],
    ['an enum value of another type', `${HEAD}params: { n: { type: integer, enum: [1, b] } }\nsteps: { a: { run: x } }\n`, [['wrong_type', 3, 41]]],
    ['a pattern with look-ahead', `${HEAD}params: { n: { type: string, pattern: "(?=a)" } }\nsteps: { a: { run: x } }\n`, [['bad_pattern', 3, 39]]],
    ['a pattern on a number', `${HEAD}params: { n: { type: integer, pattern: a } }\nsteps: { a: { run: x } }\n`, [['limit_not_for_type', 3, 40]]],
    ['max below min', `${HEAD}params: { n: { type: integer, min: 3, max: 2 } }\nsteps: { a: { run: x } }\n`, [['bad_value', 3, 44]]],
    ['a param without type is known to its readers', `${HEAD}params: { n: { default: 1 } }\nsteps: { a: { run: x, env: { N: "\${{ params.n }}" } } }\n`, [['missing_key', 3, 11]]],
    ['a name with a dash', `${HEAD}params: { a-b: { type: string } }\nsteps: { a: { run: x } }\n`, [['bad_name', 3, 11]]],
  ]],
  ['ids and needs', [
    ['ids that break the rule', steps('  "a/b": { run: x }\n  "a:b": { run: x }\n  CON: { run: x }\n'), [['bad_id', 4, 3], ['bad_id', 5, 3], ['bad_id', 6, 3]]],
    ['ids that differ by case', steps('  Build: { run: x }\n  build: { run: x }\n'), [['duplicate_id', 5, 3]]],
    ['one id in steps and finally', `${steps('  a: { run: x }\n')}finally:\n  a: { run: y }\n`, [['duplicate_id', 6, 3]]],
    ['an unknown need', steps('  test: { run: x }\n  deploy: { run: y, needs: [tset] }\n'), [['unknown_step', 5, 29]]],
    ['a need of itself', steps('  a: { run: x, needs: [a] }\n'), [['self_need', 4, 24]]],
    ['a cycle', steps('  a: { run: x, needs: [b] }\n  b: { run: x, needs: [a] }\n'), [['cycle', 4, 24]]],
    ['a cycle through a reference', steps('  a: { run: x, env: { V: "${{ steps.b.status }}" } }\n  b: { run: x, needs: [a] }\n'), [['cycle', 4, 31]]],
    ['two cycles', steps('  a: { run: x, needs: [b] }\n  b: { run: x, needs: [a] }\n  c: { run: x, needs: [d] }\n  d: { run: x, needs: [c] }\n'), [['cycle', 4, 24], ['cycle', 6, 24]]],
    ['a main step that needs a step under finally', `${steps('  a: { run: x, needs: [z] }\n')}finally: { z: { run: y } }\n`, [['not_upstream', 4, 24]]],
    ['a step under finally that needs a main step', `${steps('  a: { run: x }\n')}finally: { z: { run: y, needs: [a] } }\n`, [['not_upstream', 5, 33]]],
  ]],
  ['references', [
    ['an unknown step', steps('  a: { run: x, env: { V: "${{ steps.b.status }}" } }\n'), [['unknown_step', 4, 31]]],
    ['an unknown step in a condition is not a type error too', steps('  a: { run: x, if: steps.b.outputs.n > 3 }\n'), [['unknown_step', 4, 20]]],
    ['an unknown output', steps('  a: { run: x, outputs: { image: string } }\n  b: { run: y, env: { V: "${{ steps.a.outputs.imge }}" } }\n'), [['unknown_output', 5, 31]]],
    ['an unknown param in a literal block', steps('  a:\n    run: cat\n    stdin: |\n      one\n      two ${{ params.x }}\n'), [['unknown_param', 8, 15]]],
    ['an unknown secret', steps('  a: { run: x, env: { V: "${{ secrets.TOKEN }}" } }\n'), [['unknown_secret', 4, 31]]],
    ['a near miss of a declared variable', `${HEAD}env: { REGION: eu }\nsteps: { a: { run: [echo, "\${{ env.REGOIN }}"] } }\n`, [['unknown_env', 4, 32]]],
    ['a variable that every host has is no near miss', `${HEAD}env: { USERS: eu }\nsteps: { a: { run: [echo, "\${{ env.USER }}"] } }\n`, []],
    ['a variable that only the process of the step sees', steps('  a: { run: [echo, "${{ env.A }}"], env: { A: x } }\n'), [['env_not_visible', 4, 25]]],
    ['a step that reads itself', steps('  a: { run: x, stdin: "${{ steps.a.status }}" }\n'), [['self_need', 4, 28]]],
    ['the result of a step that keeps none', steps('  a: { run: x }\n  b: { run: y, stdin: "${{ steps.a.result }}" }\n'), [['no_result', 5, 28]]],
    ['a member that steps do not have', steps('  a: { run: x }\n  b: { run: y, stdin: "${{ steps.a.output }}" }\n'), [['bad_expression', 5, 28]]],
    ['an id with a dash', steps('  my-id: { run: x }\n  b: { run: y, if: steps.my-id.status == "completed" }\n'), [['unknown_step', 5, 20]]],
    ['session.status in a main step', steps('  a: { run: x, env: { S: "${{ session.status }}" } }\n'), [['reference_not_allowed', 4, 31]]],
    ['a step in the env of the plan', `${HEAD}env: { A: "\${{ steps.a.status }}" }\nsteps: { a: { run: x } }\n`, [['reference_not_allowed', 3, 16]]],
    ['data in a script', steps('  a:\n    run: |\n      echo ok\n      echo ${{ params.x }}\n'), [['interpolation_in_script', 7, 12]]],
    ['an expression that is not closed', steps('  a: { run: x, stdin: "a ${{ params.x" }\n'), [['bad_expression', 4, 26]]],
  ]],
  ['secrets', [
    ['in if', `${HEAD}secrets: [T]\nsteps: { a: { run: x, if: secrets.T == "a" } }\n`, [['secret_not_allowed', 4, 27]]],
    ['in set', `${HEAD}secrets: [T]\nsteps: { a: { set: { v: "\${{ secrets.T }}" } } }\n`, [['secret_not_allowed', 4, 30]]],
    ['in the arguments of a command', `${HEAD}secrets: [T]\nsteps: { a: { run: [x, "\${{ secrets.T }}"] } }\n`, [['secret_not_allowed', 4, 29]]],
    ['in outputs of the plan', `${HEAD}secrets: [T]\nsteps: { a: { run: x } }\noutputs: { t: "\${{ secrets.T }}" }\n`, [['secret_not_allowed', 5, 20]]],
    ['through the env of the plan', `${HEAD}secrets: [T]\nenv: { A: "\${{ secrets.T }}" }\nsteps: { a: { set: { v: "\${{ env.A }}" } } }\n`, [['secret_not_allowed', 5, 30]]],
    ['a variable of the host that looks like one', steps('  a: { run: x, env: { MY_TOKEN: } }\n'), [['secret_like_env', 4, 23]]],
  ]],
  ['what may be absent', [
    ['after a tolerated failure', steps('  a: { run: x, stdout: text, continue_on_error: true }\n  b: { run: y, stdin: "${{ steps.a.result }}" }\n'), [['may_be_absent', 5, 28]]],
    ['with after: any', steps('  a: { run: x, stdout: text }\n  b: { run: y, after: any, stdin: "${{ steps.a.result }}" }\n'), [['may_be_absent', 5, 40]]],
    ['in finally', `${steps('  a: { run: x, stdout: text }\n')}finally: { z: { run: y, stdin: "\${{ steps.a.result }}" } }\n`, [['may_be_absent', 5, 37]]],
    ['an optional output', steps('  a: { run: x, outputs: { v: { type: string, optional: true } } }\n  b: { run: y, stdin: "${{ steps.a.outputs.v }}" }\n'), [['may_be_absent', 5, 28]]],
    ['a step that may be skipped, in outputs of the plan', `${steps('  a: { run: x, stdout: text, if: "1 > 2" }\n  b: { run: y, needs: [a], stdout: text }\n')}outputs: { v: "\${{ steps.b.result }}" }\n`, [['may_be_absent', 6, 20]]],
    ['read behind has(), nothing is wrong', steps('  a: { run: x, stdout: text, continue_on_error: true }\n  b: { run: y, stdin: "${{ has(steps.a.result) ? steps.a.result : \'\' }}" }\n'), []],
    ['read by a step that is skipped with it, nothing is wrong', steps('  a: { run: x, stdout: text, if: "1 > 2" }\n  b: { run: y, stdin: "${{ steps.a.result }}" }\n'), []],
  ]],
  ['types', [
    ['a condition that is text', `${HEAD}params: { p: { type: string } }\nsteps: { a: { run: x, if: params.p } }\n`, [['type_mismatch', 4, 27]]],
    ['text compared with a number', `${HEAD}params: { p: { type: string } }\nsteps: { a: { run: x, if: params.p > 3 } }\n`, [['type_mismatch', 4, 27]]],
    ['the type of a set value', steps('  a: { set: { n: "${{ 1 + 2 }}", t: x } }\n  b: { check: steps.a.outputs.n > 2 }\n  c: { check: steps.a.outputs.t > 2 }\n'), [['type_mismatch', 6, 15]]],
  ]],
];

for (const [group, rows] of TABLES) {
  describe(`problems of ${group}`, () => {
    test.each(rows)('%s', async (_title, source, expected) => {
      expect(await problemsOf(source)).toEqual(expected);
    });
  });
}

test('all problems of a file come at once, in the order of the file', async () => {
  const source = steps('  a: { run: x, timeout: 5 }\n  b: { run: x, needs: [c], neds: [] }\n  d: { check: params.z }\n');
  expect(await problemsOf(source)).toEqual([['bad_duration', 4, 25], ['unknown_step', 5, 24], ['unknown_key', 5, 28], ['unknown_param', 6, 15]]);
});

test('a problem shows the line with a caret, the path, and what was meant', async () => {
  const result = await loadPlan({ source: steps('  test: { run: x }\n  ship: { run: y, needs: [tets] }\n'), file: 'release.yaml' });
  expect(result).toMatchObject({ ok: false, problems: [{ file: 'release.yaml', path: 'steps.ship.needs[0]', line: 5, column: 27, end_line: 5, end_column: 31, hint: 'did you mean "test"?' }] });
  expect(!result.ok && result.problems[0]?.frame).toBe('4 |   test: { run: x }\n5 |   ship: { run: y, needs: [tets] }\n  |                           ^^^^');
});

test('a frame shows no control characters of the file', async () => {
  const result = await loadPlan({ source: steps('  a: { run: x, "n\u009b2Jeds": [] }\n') });
  expect(!result.ok && result.problems.map(({ frame, message }) => frame + message).join('')).not.toMatch(/\u009b|\u001b/);
});

test('a long cycle is shown shortened', async () => {
  const ring = Array.from({ length: 30 }, (_, i) => `  s${i}: { run: x, needs: [s${(i + 1) % 30}] }\n`).join('');
  const result = await loadPlan({ source: steps(ring) });
  expect(!result.ok && result.problems.map(({ message }) => message)).toEqual(['steps wait for each other: s0 → s1 → s2 → s3 → s4 → … 23 more … → s28 → s29 → s0 (each needs the next)']);
});
