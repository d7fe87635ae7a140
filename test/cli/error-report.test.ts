import { describe, expect, test } from 'vitest';
import { InvalidPlanError, reportError, UsageFaults } from '../../src/cli/error-report.js';
import { SessionHeldError, StoreError, UsageError } from '../../src/core/error.js';
import { loadPlan } from '../../src/plan/load.js';
import { fakeWorld } from './support.js';

function report(error: unknown, options: { json?: boolean; env?: NodeJS.ProcessEnv } = {}) {
  const { context, stdout, stderr } = fakeWorld(options);
  const code = reportError(context, error, options.json === true);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

describe('an error', () => {
  test('is one line on stderr, without a stack', () => {
    expect(report(new UsageError('x', 'no such\nthing'))).toEqual({ code: 2, stdout: '', stderr: 'error: no such | thing\n' });
    expect(report(new StoreError('full', 'store x: full')).code).toBe(7);
  });

  test('of plan itself says how to see more, and shows it with PLAN_DEBUG', () => {
    expect(report(new TypeError('oops')).stderr).toContain('PLAN_DEBUG=1');
    expect(report(new TypeError('oops')).stderr).not.toContain('at ');
    expect(report(new TypeError('oops'), { env: { PLAN_DEBUG: '1' } }).stderr).toMatch(/TypeError: oops\n\s+at /);
  });

  test('is also one JSON line on stdout where JSON was asked for', () => {
    const held = report(new SessionHeldError('S', 'held', { pid: 5 }), { json: true });
    expect(JSON.parse(held.stdout)).toEqual({ type: 'error', code: 'session_held', message: 'held', exit_code: 6, session_id: 'S', holder: { pid: 5 } });
    expect(JSON.parse(report(new StoreError('newer', 'x'), { json: true }).stdout)).toMatchObject({ code: 'store_newer', exit_code: 7 });
  });

  test('that is several faults tells all of them', () => {
    const faults = new UsageFaults('invalid_inputs', [{ code: 'missing_param', message: 'param a', hint: 'give it' }, { code: 'missing_secret', message: 'secret B' }]);
    expect(report(faults).stderr).toBe('error: param a\n  hint: give it\nerror: secret B\nnothing was started\n');
    expect(JSON.parse(report(faults, { json: true }).stdout)).toMatchObject({ code: 'invalid_inputs', faults: [{ code: 'missing_param' }, { code: 'missing_secret' }] });
  });

  test('of a plan shows place, code, frame and hint of every problem, and nothing that commands the terminal', async () => {
    const loaded = await loadPlan({ source: 'plan: 1\nname: x\nsteps:\n  a: { run: "\u001b[2J", neds: [b] }\n', file: 'p\u001b[2J.yaml' });
    if (loaded.ok) throw new Error('the plan must be invalid');
    const { stderr, code } = report(new InvalidPlanError('p.yaml', loaded.problems));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^p\.yaml:4:\d+: error\[\w+\]: /m);
    expect(stderr).toMatch(/\^+\n/);
    expect(stderr).not.toContain('\u001b');
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(`error: p.yaml has ${loaded.problems.length} ${loaded.problems.length === 1 ? 'problem' : 'problems'}; nothing was started`);
  });
});
