// What people write who know another tool, or not yet this one. One mistake is one problem, at its place, with what to do.
import { describe, expect, test } from 'vitest';
import { loadPlan } from '../../src/plan/load.js';

type Expected = [place: string, code: string, message: RegExp, hint: RegExp | undefined];

const HEAD = 'plan: 1\nname: t\n';
/** Steps from line 4 on. */
const steps = (text: string) => `${HEAD}steps:\n${text}`;
const A = '  a: { run: x, outputs: { v: string }, continue_on_error: true }\n';

const P = `${HEAD}params: { p: { type: string, default: d } }\nsteps:\n`;

const TABLES: Array<[group: string, rows: Array<[title: string, source: string, ...expected: Expected[]]>]> = [
  ['words for a status', [
    ['two words that no status has', steps(`${A}  b: { run: y, if: steps.a.status == "success" || "failure" != steps.a.status }\n`), ['5:38', 'unknown_status', /never "success": it is completed, failed, skipped or cancelled/, /"completed"/], ['5:51', 'unknown_status', /never "failure"/, /"failed"/]],
    ['a word in a list', steps(`${A}  b: { run: y, if: "steps.a.status in ['ok', 'completed']" }\n`), ['5:40', 'unknown_status', /never "ok"/, /"completed"/]],
    ['a word in a loop over statuses', steps(`${A}  b: { run: y, if: "[steps.a.status].all(s, s != 'error')" }\n`), ['5:50', 'unknown_status', /never "error"/, /"failed"/]],
    ['a loop over words', steps(`${A}  b: { run: y, if: "['skip', 'failed'].exists(s, s == steps.a.status)" }\n`), ['5:22', 'unknown_status', /never "skip"/, /"skipped"/]],
    ['another case, in a text', steps(`${A}  b: { run: y, env: { V: "\${{ steps['a'].status == 'Completed' }}" } }\n`), ['5:52', 'unknown_status', /never "Completed"/, /"completed"/]],
    ['a status of the way', steps(`${A}  b: { run: y, if: steps.a.status == "running" }\n`), ['5:38', 'unknown_status', /never "running"/, /has ended when it is read/]],
    ['a word for the session', `${steps(A)}finally: { z: { run: y, if: session.status == "skipped" } }\n`, ['5:47', 'unknown_status', /the session is never "skipped": it is completed, failed, cancelled or expired/, undefined]],
    ['the words that there are', `${steps(`${A}  b: { run: y, if: "steps.a.status in ['completed', 'failed', 'skipped', 'cancelled']" }\n`)}finally: { z: { run: y, if: session.status != "expired" } }\n`],
  ]],
  ['guards', [
    ['a guard in the if of the step is enough', steps(`${A}  b: { run: y, if: has(steps.a.outputs.v) && steps.a.outputs.v != "", env: { V: "\${{ steps.a.outputs.v }}" } }\n  c: { set: { v: "\${{ steps.a.outputs.v }}" }, if: "\${{ steps.a.status == 'completed' }}" }\n`)],
    ['a guard that is not held by the if', steps(`${A}  b: { run: y, if: has(steps.a.outputs.v) || true, stdin: "\${{ steps.a.outputs.v }}" }\n`), ['5:64', 'may_be_absent', /may be absent/, /has\(/]],
    ['a guard of the opposite', steps(`${A}  b: { run: y, if: "!has(steps.a.outputs.v)", stdin: "\${{ steps.a.outputs.v }}" }\n`), ['5:59', 'may_be_absent', /may be absent/, /has\(/]],
  ]],
  ['forgotten braces', [
    ...([
      ['steps.a.outputs.v', 'steps.a.outputs.v', 38],
      ['see steps.a.outputs.v', 'steps.a.outputs.v', 42],
      ["'steps[\"a\"].outputs.v'", 'steps["a"].outputs.v', 39],
      ['params.p', 'params.p', 38],
      ['"{{ params.p }}"', 'params.p', 39],
      ['"{{params.p}}"', 'params.p', 39],
      ['"{{ .params.p }}"', 'params.p', 39],
      ['"{{ p }}"', 'params.p', 39],
      ['"$ {{ params.p }}"', 'params.p', 39],
      ['"${ params.p }"', 'params.p', 39],
      ['"${params.p}"', 'params.p', 39],
      ['"$params.p"', 'params.p', 39],
      ['"$(params.p)"', 'params.p', 39],
      ['"{{ env.HOME }}"', 'env.HOME', 39],
      ['"${{ params.p }} {{ params.p }}"', 'params.p', 55],
    ] as const).map(([value, meant, column]): [string, string, Expected] => [value, `${P}${A}  b: { run: y, needs: [a], env: { V: ${value} } }\n`.replace('continue_on_error: true', 'timeout: 5m'), [`6:${column}`, 'forgotten_braces', /as it is written/, new RegExp(`\\$\\{\\{ ${meant.replace(/[[\].]/g, '\\$&')} \\}\\}`)]]),
    ['in a command, in set, in a URL and in outputs', `${P}${A}  b: { run: [echo, params.p], after: any }\n  c: { set: { v: [{ w: "{{ params.p }}" }] } }\n  d: { http: { url: "https://x/$params.p" } }\noutputs: { v: steps.a.status }\n`, ['6:20', 'forgotten_braces', /./, /params/], ['7:25', 'forgotten_braces', /./, /params/], ['8:32', 'forgotten_braces', /./, /params/], ['9:15', 'forgotten_braces', /./, /steps/]],
    ['in a script, where only env helps', `${P}  a: { run: "echo $params.p" }\n`, ['5:19', 'forgotten_braces', /a script cannot read/, /by env: .*\$\{\{ params\.p \}\}/]],
    ['where a duration is meant, one problem', `${P}  a: { wait: { for: params.p } }\n`, ['5:21', 'bad_duration', /./, /\$\{\{ params\.p \}\}/]],
    ['where a time is meant, one problem', `${P}  a: { wait: { until: params.p } }\n`, ['5:23', 'bad_time', /./, /\$\{\{ params\.p \}\}/]],
    ['where an address is meant, one problem', `${P}  a: { http: { url: params.p } }\n`, ['5:21', 'bad_url', /./, /\$\{\{ params\.p \}\}/]],
    ['braces that are not closed', `${P}  a: { run: [echo, "\${{ params.p }"] }\n`, ['5:21', 'bad_expression', /not closed/, /\}\}/]],
    ['braces that are not closed, before others', `${P}  a: { run: [echo, "\${{ params.p } \${{ params.p }}"] }\n`, ['5:21', 'bad_expression', /not closed/, /\}\}/]],
    ['braces of another kind in a condition', `${P}  a: { run: x, if: "{{ params.p == '1' }}" }\n`, ['5:40', 'bad_expression', /./, /alone, or in \$\{\{/]],
    ['a dollar in a condition', `${P}  a: { run: x, if: "$params.p == '1'" }\n`, ['5:21', 'bad_expression', /./, /no "\$" here/]],
    ['what other programs read is left alone', `${P}  a: { run: [docker, inspect, --format, "{{ .State }} {{json .}} \${HOME} $HOME $(pwd) params.yaml my.params.p steps.x.y $\${{ params.p }}"] }\n  b: { run: "python -c 'print(params.p)'", env: { F: /etc/params.p/x } }\n`],
  ]],
  ['addresses', [
    ...([
      ['htp://x', /expected http or https/, /http:\/\//],
      ['http://', /a host behind/, /https:\/\//],
      ['http:///x', /a host behind/, /https:\/\//],
      ['"http://?x"', /a host behind/, /https:\/\//],
      ['http:/x', /begins with http/, /http:\/\/x/],
      ['https:x.org', /begins with http/, /https:\/\/x\.org/],
      ['http://h:0/', /a port from 1/, undefined],
      ['http://h:99999/', /an absolute address/, undefined],
      ['example.org/x', /begins with http/, /https:\/\/example\.org/],
      ['localhost:8080/x', /begins with http/, /https:\/\/localhost/],
      ['/x', /begins with http/, undefined],
      ['"https://a b"', /white space/, /%20/],
      ['"https://a/\\n"', /white space/, undefined],
      ['"https://a\\\\b"', /backslashes/, undefined],
      ['"htp://${{ env.HOME }}"', /expected http or https/, /http:\/\//],
      ['"//${{ env.HOME }}"', /begins with http/, undefined],
    ] as const).map(([url, message, hint]): [string, string, Expected] => [url, steps(`  a: { http: { url: ${url} } }\n`), ['4:21', 'bad_url', message, hint]]),
    ['addresses that are right, or not known yet', steps(['HTTPS://Example.org', 'http://[::1]:8080/a?b=c#d', 'http://${{ env.HOME }}', '${{ env.HOME }}/x', 'http${{ env.HOME }}', 'https://x.org/\u00e4'].map((url, i) => `  s${i}: { http: { url: "${url}" } }\n`).join(''))],
    ['headers that HTTP cannot carry', steps('  a: { http: { url: "https://x", headers: { "X-A:": b, ok: "a\\nb", V: "${{ env.HOME }}" } } }\n'), ['4:45', 'bad_header', /the name of a header/, /":"/], ['4:60', 'bad_header', /"ok" holds a character/, /no line ends/]],
  ]],
];

for (const [group, rows] of TABLES) {
  describe(group, () => {
    test.each(rows.map(([title, source, ...expected]) => ({ title, source, expected })))('$title', async ({ source, expected }) => {
      const result = await loadPlan({ source });
      const problems = result.ok ? result.warnings : result.problems;
      expect(problems.map(({ line, column, code, message, hint }) => `${line}:${column} ${code}: ${message} (${hint ?? ''})`)).toHaveLength(expected.length);
      for (const [i, [place, code, message, hint]] of expected.entries()) {
        const problem = problems[i];
        expect(`${problem?.line}:${problem?.column} ${problem?.code}`).toBe(`${place} ${code}`);
        expect(problem?.message).toMatch(message);
        if (hint !== undefined) expect(problem?.hint).toMatch(hint);
      }
    });
  });
}
