import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canonicalJson, digestOf, type JsonValue } from '../../src/core/json.js';
import { loadPlan, type PlanInput } from '../../src/plan/load.js';
import type { Plan } from '../../src/plan/plan.js';
import { parsePlanJson, planJson } from '../../src/plan/plan-json.js';

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'plan-load-')));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function planOf(input: PlanInput): Promise<Plan> {
  const result = await loadPlan(input);
  if (!result.ok) throw new Error(result.problems.map(({ message, line }) => `${line}: ${message}`).join('\n'));
  return result.plan;
}

const PLAN = 'plan: 1\nname: t\nsteps:\n  a: { run: x }\n';

describe('files', () => {
  const codeOf = async (path: string) => {
    const result = await loadPlan(path);
    return result.ok ? 'ok' : result.problems.map(({ code }) => code).join();
  };

  test('what cannot be read is a problem, not an exception', async () => {
    expect(await codeOf(join(folder, 'none.yaml'))).toBe('file_not_found');
    expect(await codeOf(folder)).toBe('file_not_readable');
    await writeFile(join(folder, 'latin.yaml'), Buffer.from([0x61, 0x3a, 0xe9]));
    expect(await codeOf(join(folder, 'latin.yaml'))).toBe('not_utf8');
    await writeFile(join(folder, 'large.yaml'), Buffer.alloc(33 * 1024 * 1024, 0x20));
    expect(await codeOf(join(folder, 'large.yaml'))).toBe('file_too_large');
  });

  test.runIf(process.platform !== 'win32')('a device and a named pipe are refused before they are opened', async () => {
    expect(await codeOf('/dev/zero')).toBe('file_not_readable');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(await codeOf(join(folder, 'pipe'))).toBe('file_not_readable');
  });

  test('a file of nothing but lines is refused', async () => {
    await writeFile(join(folder, 'lines.yaml'), PLAN + '\n'.repeat(3_000_000));
    const started = performance.now();
    expect(await codeOf(join(folder, 'lines.yaml'))).toBe('file_too_large');
    expect(performance.now() - started).toBeLessThan(3000);
  });

  test.each([
    ['an alias', (i: number) => `  s${i}: { run: x, stdin: *text }\n`],
    ['a merge key', (i: number) => `  s${i}: { run: x, <<: *map }\n`],
    ['an alias of a mapping', (i: number) => `  s${i}: { set: { v: *map } }\n`],
    ['an alias as a key', (i: number) => `  s${i}: { set: { v: { *text : 1 } } }\n`],
  ])('text that %s makes is bounded', async (_, step) => {
    const source = `plan: 1\nname: t\nx-a: &map { stdin: &text "${'x'.repeat(1_000_000)}" }\nsteps:\n${Array.from({ length: 3000 }, (_x, i) => step(i)).join('')}`;
    const started = performance.now();
    const result = await loadPlan({ source });
    expect(!result.ok && result.problems.map(({ code }) => code)).toEqual(['alias_bomb']);
    expect(performance.now() - started).toBeLessThan(8000);
  });

  test.each(['  a: { run: x, stdin: "\\ud800" }\n', '  a: { set: { "\\udc00x": 1 } }\n', '  a: { run: x, "\\ud800": 1 }\n'])('half of a surrogate pair is refused: %s', async (step) => {
    const result = await loadPlan({ source: `plan: 1\nname: t\nsteps:\n${step}` });
    expect(!result.ok && result.problems.map(({ code }) => code)).toEqual(['lone_surrogate']);
  });

  test('half of a surrogate pair in an object is refused, a whole pair is not', async () => {
    const definition = (stdin: string) => ({ plan: 1, name: 't', steps: { a: { run: 'x', stdin } } });
    expect(await loadPlan({ definition: definition('a\ud83d') })).toMatchObject({ ok: false, problems: [{ code: 'lone_surrogate' }] });
    expect((await planOf({ definition: definition('a\ud83d\ude00') })).steps[0]?.stdin).toBe('a\ud83d\ude00');
    expect((await planOf({ source: `${PLAN}  b: { run: x, stdin: "\\ud83d\\ude00" }\n` })).steps[1]?.stdin).toBe('\ud83d\ude00');
  });

  test('a byte order mark and CRLF change nothing, positions included', async () => {
    await writeFile(join(folder, 'bom.yaml'), `\ufeff${PLAN.replaceAll('\n', '\r\n')}`);
    const [plain, marked] = [await planOf({ source: PLAN }), await planOf(join(folder, 'bom.yaml'))];
    expect(marked.plan_hash).toBe(plain.plan_hash);
    const result = await loadPlan({ source: `\ufeff${PLAN}  b: { rn: x }\n`.replaceAll('\n', '\r\n') });
    expect(result).toMatchObject({ ok: false, problems: [{ code: 'unknown_key', line: 5, column: 8, frame: '4 |   a: { run: x }\n5 |   b: { rn: x }\n  |        ^^' }] });
  });

  test('relative paths start from the folder of the file, behind a link too; modules are found there', async () => {
    await mkdir(join(folder, 'real'), { recursive: true });
    await writeFile(join(folder, 'real', 'f.js'), 'throw new Error("loading a plan runs nothing of it");\nexport function go() {}\n');
    await writeFile(join(folder, 'real', 'p.yaml'), 'plan: 1\nname: t\nsteps: { a: { call: { function: ./f.js#go } } }\n');
    await symlink(join(folder, 'real', 'p.yaml'), join(folder, 'link.yaml'));
    expect(await loadPlan(join(folder, 'link.yaml'))).toMatchObject({ ok: true, base_dir: join(folder, 'real'), file: join(folder, 'link.yaml') });
    expect(await loadPlan({ source: PLAN, file: join(folder, 'x.yaml') })).toMatchObject({ ok: true, base_dir: folder });
  });
});

describe('the canonical plan', () => {
  const RICH = `
plan: 1
name: rich
x-retry: &retry { max_attempts: 5, delay: 2s }
params: { p: { type: string, default: d } }
env: { HOSTED: , REGION: eu, PATH: "/opt:\${{ env.PATH }}" }
secrets: [T]
defaults: { attempt_timeout: 10m, retry: { max_attempts: 4, backoff: constant }, cwd: work, shell: sh }
timeout: 1h
budget: { attempts: 9 }
steps:
  script: { run: "echo hi", env: { T: "\${{ secrets.T }}" }, outputs: { n: integer, o: { type: string, optional: true } } }
  argv: { run: [echo, "\${{ steps.script.outputs.n }}"], retry: { <<: *retry, max_attempts: 2 }, timeout: 1m30s }
  http: { http: { method: post, url: "https://x/\${{ params.p }}", json: { a: [1, "\${{ steps.script.outputs.n }}"] } }, retry: {} }
  call: { call: { function: f }, if: "\${{ params.p == 'd' }}", after: any, needs: [http] }
  check: { check: { that: steps.script.outputs.n > 1, message: m } }
  set: { set: { a: "\${{ steps.script.outputs.n }}", b: text, c: [1], d: "\${{ steps.http.result.body.x }}" } }
  wait: { wait: { for: 5m } }
finally:
  z: { run: x, env: { S: "\${{ session.status }} \${{ steps.argv.status }}" }, shell: [python3, -c] }
outputs: { n: "\${{ steps.script.outputs.n }}" }
`;

  test('has all defaults applied, durations in ms, and needs from references', async () => {
    const plan = await planOf({ source: RICH });
    const step = (id: string) => plan.steps.find((one) => one.id === id);
    expect(plan).toMatchObject({ plan: 1, checkpoint_interval: 'per_step', scheduling: 'layered', on_failure: 'stop', concurrency: 8, timeout: 3_600_000, budget: { attempts: 9 }, host_env: ['HOSTED', 'PATH'], secrets: ['T'] });
    expect(step('script')).toMatchObject({ needs: [], secrets: ['T'], cwd: 'work', shell: ['sh', '-eu', '-c'], attempt_timeout: 600_000, kill_grace: 10_000, outputs: { n: { type: 'integer', optional: false }, o: { type: 'string', optional: true } } });
    expect(step('script')?.retry).toEqual({ max_attempts: 4, backoff: 'constant', delay: 1000, max_delay: 300_000, jitter: true, retry_on: ['transient', 'timeout'], give_up_on: [], max_interruptions: 10 });
    expect(step('argv')).toMatchObject({ needs: ['script'], inferred_needs: ['script'], timeout: 90_000, retry: { max_attempts: 2, delay: 2000, backoff: 'constant' } });
    expect(step('argv')?.shell).toBeUndefined();
    expect(step('http')).toMatchObject({ action: { kind: 'http', method: 'POST', expect_status: ['2xx'], follow_redirects: true }, retry: { max_attempts: 4 } });
    expect(step('http')?.cwd).toBeUndefined();
    expect(step('call')).toMatchObject({ if: "params.p == 'd'", after: 'any', needs: ['http'], inferred_needs: [], action: { args: {} } });
    expect(step('check')?.action).toEqual({ kind: 'check', that: 'steps.script.outputs.n > 1', message: 'm' });
    expect(step('set')?.outputs).toEqual({ a: { type: 'integer', optional: false }, b: { type: 'string', optional: false }, c: { type: 'array', optional: false } });
    expect(step('z')).toMatchObject({ finally: true, needs: [], shell: ['python3', '-c'] });
  });

  test('without retry there is one attempt; with an empty one there are three', async () => {
    const plan = await planOf({ source: 'plan: 1\nname: r\nsteps:\n  a: { run: x }\n  b: { run: x, retry: {} }\n' });
    expect(plan.steps.map(({ retry }) => retry.max_attempts)).toEqual([1, 3]);
  });

  test('is frozen all through', async () => {
    const seen = new Set<unknown>();
    const visit = (value: unknown): void => {
      if (value === null || typeof value !== 'object' || seen.has(value)) return;
      seen.add(value);
      expect(Object.isFrozen(value)).toBe(true);
      Object.values(value).forEach(visit);
    };
    visit(await planOf({ source: RICH }));
    visit(parsePlanJson(planJson(await planOf({ source: RICH }))));
  });

  test('its hashes are digests of canonical JSON', async () => {
    const { plan_hash, ...rest } = await planOf({ source: RICH });
    expect(plan_hash).toBe(digestOf(rest as unknown as JsonValue));
    for (const { step_hash, ...step } of rest.steps) expect(step_hash).toBe(digestOf(step as unknown as JsonValue));
  });

  test('changes its hash with its meaning only', async () => {
    const base = await planOf({ source: PLAN });
    expect((await planOf({ source: `# a comment\n${PLAN.replace('{ run: x }', '\n    run: "x"')}` })).plan_hash).toBe(base.plan_hash);
    expect((await planOf({ definition: { plan: 1, name: 't', steps: { a: { run: 'x' } } } })).plan_hash).toBe(base.plan_hash);
    const other = await planOf({ source: PLAN.replace('run: x', 'run: y') });
    expect(other.plan_hash).not.toBe(base.plan_hash);
    expect(other.steps[0]?.step_hash).not.toBe(base.steps[0]?.step_hash);
  });

  test('a stored text that was changed is refused', async () => {
    const json = planJson(await planOf({ source: PLAN }));
    expect(() => parsePlanJson(json.replace('"script":"x"', '"script":"rm -rf"'))).toThrow('the stored plan was changed');
    expect(() => parsePlanJson(json.replace('"plan":1', '"plan":2'))).toThrow('version 2');
  });

  test('goes to JSON and back unchanged, whatever names and values are in it', async () => {
    const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,6}$/).filter((text) => text !== '__proto__');
    const value = fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.parse(JSON.stringify(json).replaceAll('__proto__', 'proto').replaceAll('${{', '')) as JsonValue);
    const safe = value.filter((json) => !/[eE][+-]\d|\d{16}|\\u0000/.test(JSON.stringify(json)));
    const text = fc.string({ unit: 'grapheme' }).map((found) => found.replaceAll('${{', '').replaceAll('\0', ''));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, safe, { minKeys: 1 }), fc.dictionary(name, text), async (values, env) => {
        const plan = await planOf({ definition: { plan: 1, name: 'p', env, steps: { s: { set: values }, c: { call: { function: 'f', args: values } } } } });
        const back = parsePlanJson(planJson(plan));
        expect(back).toEqual(plan);
        expect(planJson(back)).toBe(planJson(plan));
        expect(canonicalJson(back.steps[1]?.action as unknown as JsonValue)).toBe(canonicalJson({ kind: 'call', function: 'f', args: values }));
      }),
      { numRuns: 60 },
    );
  });
});

describe('definitions', () => {
  test('are told with positions in their JSON text', async () => {
    const result = await loadPlan({ definition: { plan: 1, name: 't', steps: { a: { run: 'x', neds: [] } } } });
    expect(result).toMatchObject({ ok: false, problems: [{ code: 'unknown_key', line: 7, column: 7, file: '<definition>' }] });
  });

  test('that are no JSON are refused', async () => {
    expect(await loadPlan({ definition: { plan: 1, name: 't', steps: { a: { set: { v: () => 1 } } } } })).toMatchObject({ ok: false, problems: [{ code: 'not_json' }] });
  });
});

describe('hostile input', () => {
  test('an alias bomb ends early', async () => {
    const levels = Array.from({ length: 12 }, (_, i) => `x-${i}: &l${i} [${Array.from({ length: 10 }, () => (i === 0 ? '1' : `*l${i - 1}`)).join(', ')}]`);
    const result = await loadPlan({ source: `plan: 1\nname: t\n${levels.join('\n')}\nsteps: { a: { set: { v: *l11 } } }\n` });
    expect(!result.ok && result.problems.map(({ code }) => code)).toContain('alias_bomb');
  });

  test('a bomb of merge keys ends early', async () => {
    const levels = Array.from({ length: 25 }, (_, i) => `x-${i}: &m${i} { k${i}: v${i > 0 ? `, <<: [*m${i - 1}, *m${i - 1}]` : ''} }`);
    const plan = await planOf({ source: `plan: 1\nname: t\n${levels.join('\n')}\nsteps: { a: { run: x, env: { <<: *m24 } } }\n` });
    expect(Object.keys(plan.steps[0]?.env ?? {})).toHaveLength(25);
  });

  test.each(['[', '{a: ', '- ', '&a [', '? ', '- - '])('nesting by "%s" without end is refused without a crash', async (piece) => {
    const result = await loadPlan({ source: piece.repeat(50_000) });
    expect(result.ok).toBe(false);
  });

  test('any text gives a plan or problems, with positions inside of it', async () => {
    const piece = fc.constantFrom('plan: 1\n', 'name: t\n', 'steps:\n', '  a:\n', '    run: x\n', '  b: { run: [x], needs: [a] }\n', '- ', '&a ', '*a', '<<: ', '${{ steps.a.result }}', '"', '|\n', '\t', '!!str ', '{', '}', '---\n', '\ud800', '\u0000', 'if: ', '🚀');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 14 }), async (pieces) => {
        const source = pieces.join('');
        const result = await loadPlan({ source });
        for (const problem of result.ok ? result.warnings : result.problems) {
          expect(problem.line).toBeGreaterThan(0);
          expect(problem.line).toBeLessThanOrEqual(source.split('\n').length + 1);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('many mistakes in a large plan take no longer than many steps', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `  s${i}: { rum: x, needs: [q${i}x] }\n`).join('');
    const result = await loadPlan({ source: `plan: 1\nname: t\nsteps:\n${lines}` });
    expect(!result.ok && result.problems.length).toBe(10_000);
  });

  test('a chain of 20,000 steps loads', async () => {
    const steps = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`s${i}`, { run: 'x', needs: i === 0 ? [] : [`s${i - 1}`] }]));
    expect((await planOf({ definition: { plan: 1, name: 'chain', steps } })).steps).toHaveLength(20_000);
  });
});
