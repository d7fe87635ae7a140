// Sections 1 to 3: validation, YAML, templates. What a plan says is what runs, or it is refused before anything runs.
import { describe, expect, test } from 'vitest';
import { Case, planText } from './case.js';

describe.concurrent('DAG validation', () => {
  test('B01: the order of the list has no meaning, for validate and run alike', async (context) => {
    const folder = new Case(context, planText('order', `steps:
  d: { needs: [b, c], run: "echo d >> fx" }
  b: { needs: [a], run: "echo b >> fx" }
  c: { needs: [a], run: "echo c >> fx" }
  a: { run: "echo a >> fx" }
`));
    expect((await folder.plan(['validate', 'p.yaml'])).code).toBe(0);
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S'])).code).toBe(0);
    const fx = folder.lines('fx');
    expect([fx.length, fx[0], fx[3]]).toEqual([4, 'a', 'd']);
  });

  test('B03: of two steps with one id none runs, and both lines are named', async (context) => {
    const folder = new Case(context, planText('twins', `steps:
  build: { run: "echo one >> fx" }
  build: { run: "echo two >> fx" }
  ship: { needs: [build], run: "echo ship >> fx" }
`));
    const ran = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/p\.yaml:5:.*"build".*line 4/s);
    expect([folder.exists('fx'), folder.exists('.plan')]).toEqual([false, false]);
    folder.write('q.yaml', planText('nfc', 'steps:\n  "caf\u00e9": { run: ":" }\n  "cafe\u0301": { run: ":" }\n'));
    expect((await folder.plan(['validate', 'q.yaml'])).code).toBe(2);
  });
});

describe.concurrent('YAML traps', () => {
  test('B07: versions, country codes and commit ids arrive as they are written, also after a resume', async (context) => {
    const folder = new Case(context, planText('scalars', `steps:
  a:
    env: { V: 3.10, W: 3.0, C: NO, SHA: 1234e56, O: 0123 }
    run: 'printf "%s|" "$V" "$W" "$C" "$SHA" "$O" >> fx; test -e go'
  b: { needs: [a], run: [sh, -c, 'printf "%s|" "$@" >> fx', sh, 3.10, NO, 0x10] }
`));
    const all = '3.10|3.0|NO|1234e56|0123|';
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S'])).code).toBe(1);
    expect(folder.read('fx')).toBe(all);
    folder.write('go', '');
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    expect(folder.read('fx')).toBe(`${all}${all}3.10|NO|0x10|`);
  });

  test('B07: ids that are numbers are refused as ids, not as duplicates', async (context) => {
    const folder = new Case(context, planText('ids', 'steps:\n  1e3: { run: "echo x >> fy" }\n  1000: { run: "echo y >> fy" }\n'));
    const ran = await folder.plan(['run', 'p.yaml', '--session', 'T']);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/"1e3"/);
    expect(ran.stderr).toMatch(/"1000"/);
    expect(ran.stderr).not.toMatch(/twice|duplicate/);
    expect(folder.exists('fy')).toBe(false);
  });

  test('B09: a repeated key and a second document are refused where they stand', async (context) => {
    const folder = new Case(context, planText('dup', 'steps:\n  a:\n    run: "echo old >> fx"\n    run: "echo new >> fx"\n'));
    folder.write('q.yaml', `${planText('one', 'steps:\n  a: { run: "echo 1 >> fx" }\n')}---\n${planText('two', 'steps:\n  b: { run: "echo 2 >> fx" }\n')}`);
    const repeated = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect([repeated.code, repeated.stderr]).toEqual([2, expect.stringMatching(/p\.yaml:6:.*"run"/s)]);
    const second = await folder.plan(['run', 'q.yaml', '--session', 'T']);
    expect([second.code, second.stderr]).toEqual([2, expect.stringMatching(/q\.yaml:5:.*document/s)]);
    expect(folder.exists('fx')).toBe(false);
  });

  test('B11: names that live on Object.prototype are ordinary names, and do not exist by themselves', async (context) => {
    const steps = (needs: string, env = '') => planText('protos', `steps:
  toString: { run: "echo 1 >> fx", stdout: text }
  constructor: { run: "echo 2 >> fx" }
  b: { needs: [${needs}], ${env}run: "echo 3 >> fx" }
outputs: { valueOf: "\${{ steps.toString.result }}" }
`);
    const folder = new Case(context, steps('toString, hasOwnProperty'));
    const unknown = await folder.plan(['run', 'p.yaml', '--session', 'S', '--json']);
    expect(unknown.code).toBe(2);
    const { problems } = JSON.parse(unknown.stdout) as { problems: Array<{ code: string; message: string }> };
    expect(problems).toMatchObject([{ code: 'unknown_step', message: expect.stringContaining('hasOwnProperty') }]);
    folder.write('q.yaml', steps('toString', 'env: { __proto__: { x: "1" } }, '));
    const proto = await folder.plan(['run', 'q.yaml', '--session', 'T']);
    expect([proto.code, proto.stderr]).toEqual([2, expect.stringContaining('__proto__')]);
    folder.write('q.yaml', steps('toString', 'env: { __proto__: x }, '));
    expect((await folder.plan(['run', 'q.yaml', '--session', 'T'])).code).toBe(2);
    expect(folder.exists('fx')).toBe(false);

    folder.write('r.yaml', steps('toString, constructor', 'env: { hasOwnProperty: x }, '));
    expect((await folder.plan(['run', 'r.yaml', '--session', 'U'])).code).toBe(0);
    expect(folder.lines('fx').sort()).toEqual(['1', '2', '3']);
    expect((await folder.show('U')).steps.map((step) => `${step.id} ${step.status}`)).toEqual(['toString completed', 'constructor completed', 'b completed']);
    expect((await folder.plan(['audit', 'U'])).code).toBe(0);
  });
});

describe.concurrent('templates', () => {
  const nasty = `x; touch pwned1; echo $(touch pwned2)`;

  test('B12: the output of a step cannot become code of the next: refused in a script, plain text by env, argv and stdin', async (context) => {
    const folder = new Case(context, planText('inject', `steps:
  a: { run: "echo '${nasty}'", stdout: text }
  b: { needs: [a], run: "echo got \${{ steps.a.result }} >> fx" }
`));
    const refused = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/p\.yaml:5:.*env/s)]);
    folder.write('q.yaml', planText('inject', `steps:
  a: { run: "echo '${nasty}'", stdout: text }
  b: { env: { V: "\${{ steps.a.result }}" }, run: 'printf "%s\\n" "$V" >> fx' }
  c: { needs: [b], run: [sh, -c, 'printf "%s\\n" "$1" >> fx', sh, "\${{ steps.a.result }}"] }
  d: { needs: [c], stdin: "\${{ steps.a.result }}", run: 'cat >> fx' }
`));
    const ran = await folder.plan(['run', 'q.yaml', '--session', 'T']);
    expect(ran.code, ran.stderr).toBe(0);
    expect(folder.lines('fx')).toEqual([nasty, nasty, nasty]);
    expect([folder.exists('pwned1'), folder.exists('pwned2')]).toEqual([false, false]);
  });

  test('B14: the reader of a skipped step is skipped, and the run ends', async (context) => {
    const folder = new Case(context, planText('skip', `steps:
  maybe: { if: "false", run: "echo v", stdout: text }
  use: { needs: [maybe], env: { V: "\${{ steps.maybe.result }}" }, run: 'echo "[$V]" >> fx' }
  default: { after: any, env: { V: "\${{ has(steps.maybe.result) ? steps.maybe.result : 'none' }}" }, run: 'echo "[$V]" >> fy' }
`));
    const ran = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect([ran.code, ran.seconds < 12]).toEqual([0, true]);
    expect(folder.exists('fx')).toBe(false);
    expect(folder.lines('fy')).toEqual(['[none]']);
    const { steps } = await folder.show();
    expect(steps.map((step) => [step.id, step.status, step.skip_reason?.kind])).toEqual([
      ['maybe', 'skipped', 'condition'],
      ['use', 'skipped', 'upstream_skipped'],
      ['default', 'completed', undefined],
    ]);
  });

  test('B14: a reader that would run without the value is refused before the run', async (context) => {
    const folder = new Case(context, planText('skip', `steps:
  maybe: { if: "false", run: "echo v", stdout: text }
  use: { after: any, env: { V: "\${{ steps.maybe.result }}" }, run: 'echo "[$V]" >> fx' }
`));
    const ran = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('steps.maybe.result')]);
  });

  test('B15: a skip because of a failure passes on to all descendants, a skip on purpose is told apart', async (context) => {
    const folder = new Case(context, planText('reason', `on_failure: continue
steps:
  test: { run: "exit 1" }
  gate: { needs: [test], run: "echo gate >> fx" }
  deploy: { needs: [gate], run: "echo deploy >> fx" }
  later: { needs: [deploy], run: "echo later >> fx" }
  opt: { if: "false", run: ":" }
  after: { needs: [opt], run: "echo after >> fx" }
  anyway: { needs: [opt], after: any, run: "echo anyway >> fx" }
`));
    expect((await folder.plan(['run', 'p.yaml', '--session', 'S'])).code).toBe(1);
    expect(folder.lines('fx')).toEqual(['anyway']);
    const reasons = Object.fromEntries((await folder.show()).steps.map((step) => [step.id, step.skip_reason]));
    expect(reasons).toMatchObject({
      gate: { kind: 'upstream_failed', by: 'test' },
      deploy: { kind: 'upstream_failed' },
      later: { kind: 'upstream_failed' },
      opt: { kind: 'condition' },
      after: { kind: 'upstream_skipped', by: 'opt' },
    });
  });
});
