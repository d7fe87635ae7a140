import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/index.js';
import { executor, loaded, memoryStore, recorder } from '../support/sessions.js';

const SECRET = 's3cr3t-v4lue-9';
const secrets = (name: string) => (name === 'TOKEN' ? SECRET : undefined);

describe('a value that holds a secret is not passed on', () => {
  const run = async (body: string, returned: JsonValue = null, value = SECRET) => {
    const store = await memoryStore();
    const { functions, calls } = recorder({ give: () => returned });
    const result = await executor({ store, functions, secrets: () => value }).run(await loaded(`secrets: [TOKEN]\n${body}`), { sessionId: 'S' }).result;
    const events = JSON.stringify(await store.readEvents('S', { limit: 1000 }));
    expect(events).not.toContain(SECRET);
    return { result, calls, store };
  };

  test.each([
    ['an output of run', 'run: "echo \\"url=https://host/$T/x\\" >> $PLAN_OUTPUT", env: { T: "${{ secrets.TOKEN }}" }, outputs: { url: string }', 'outputs.url'],
    ['stdout', 'run: "echo $T", env: { T: "${{ secrets.TOKEN }}" }, stdout: json', undefined],
    ['stdout as text', 'run: "echo $T", env: { T: "${{ secrets.TOKEN }}" }, stdout: text', 'steps.a.result'],
    ['stdout as lines', 'run: "echo x; echo $T", env: { T: "${{ secrets.TOKEN }}" }, stdout: lines', 'steps.a.result'],
    ['an output of call', 'call: { function: give }, outputs: { url: string }', 'outputs.url'],
  ])('%s: the step fails for good and says where, which secret, and what to do', async (_, step, place) => {
    const { result, calls } = await run(`steps:\n  a: { ${step}, retry: { max_attempts: 3, delay: 1ms } }\n  b: { needs: [a], call: { function: mark } }`, { url: `https://host/${SECRET}/x` });
    expect(result).toMatchObject({ status: 'failed', error: { class: 'permanent' } });
    if (place !== undefined) expect(result.error).toMatchObject({ code: 'secret_in_output', message: expect.stringMatching(new RegExp(`${place}.* secret TOKEN, .*secrets\\.TOKEN`)) });
    expect(calls).not.toContain('b');
  });

  test('an output of the plan: the session fails', async () => {
    const { result } = await run('params: { a: { type: string, default: s3cr3t } }\nsteps: { a: { call: { function: mark } } }\noutputs: { both: "${{ params.a }}-v4lue-9" }');
    expect(result).toMatchObject({ status: 'failed', error: { code: 'secret_in_output', message: expect.stringContaining('outputs.both') } });
  });

  test('the result of a call: what no step reads of it is kept masked, what one reads must be whole', async () => {
    const returned = { status: 200, echo: { token: SECRET }, [SECRET]: 1, items: [1] };
    const ok = await run('steps:\n  a: { call: { function: give } }\n  b: { check: "has(steps.a.result.echo.token) && steps.a.result.status == 200 && size(steps.a.result[\'items\']) == 1" }', returned);
    expect(ok.result.status).toBe('completed');
    const state = (await ok.store.loadSteps('S')).get('a')?.state;
    expect(state).toMatchObject({ output: { value: { result: { status: 200, echo: { token: '***' }, '***': 1 } } } });
    for (const read of ['steps.a.result.echo.token', 'toJson(steps.a.result)', 'steps.a.result[params.k]']) {
      const bad = await run(`params: { k: { type: string, default: status } }\nsteps:\n  a: { call: { function: give } }\n  b: { set: { x: "\${{ ${read} }}" } }`, returned);
      expect(bad.result).toMatchObject({ status: 'failed', error: { code: 'secret_in_output', step_id: 'a' } });
    }
  });

  test('a secret that is part of a declared name, and one that stands in data by chance, do no harm', async () => {
    const { result } = await run('steps:\n  a: { call: { function: give }, outputs: { prod_url: string, n: integer, ok: boolean } }\n  b: { set: { u: "${{ steps.a.outputs.prod_url }}" } }\noutputs: { u: "${{ steps.b.outputs.u }}" }', { prod_url: 'at 1', n: 11, ok: true }, '1');
    expect(result).toMatchObject({ status: 'completed', outputs: { u: 'at 1' } });
    expect((await run('steps: { a: { call: { function: give }, outputs: { prod_url: string } } }', { prod_url: 'x' }, 'prod')).result.status).toBe('completed');
  });
});

describe('a session whose parts hold a secret is refused before anything is stored', () => {
  const refusal = async (body: string, options: { params?: { [name: string]: JsonValue }; sessionId?: string; hostEnv?: { [name: string]: string }; value?: string } = {}) => {
    const store = await memoryStore();
    const { functions, calls } = recorder();
    const { hostEnv = {}, value = SECRET, ...rest } = options;
    const error = await executor({ store, functions, hostEnv, secrets: () => value })
      .run(await loaded(`secrets: [TOKEN]\n${body}`), rest)
      .result.then(() => undefined, (thrown: { code: string; message: string }) => thrown);
    if (error !== undefined) expect([calls, await store.listSessions()]).toEqual([[], []]);
    expect(error?.message ?? '').not.toContain(value);
    return error;
  };
  const mark = 'steps: { a: { call: { function: mark } } }';

  test.each([['itself', SECRET], ['inside', `https://${SECRET}@host`], ['in another spelling', { list: [Buffer.from(SECRET).toString('base64')] }]])('a param, %s', async (_, value) => {
    const type = typeof value === 'string' ? 'string' : 'object';
    expect(await refusal(`params: { p: { type: ${type} } }\n${mark}`, { params: { p: value } })).toMatchObject({ code: 'secret_in_param', message: expect.stringMatching(/param p .*secret TOKEN.*secrets\.TOKEN/) });
  });

  test('a param of a wrong type or name is not quoted', async () => {
    expect((await refusal(`params: { p: { type: integer } }\n${mark}`, { params: { p: `${'x'.repeat(50)}${SECRET}` } }))?.code).toBe('secret_in_param');
    expect((await refusal(mark, { params: { [SECRET]: 1 } }))?.code).toBe('secret_in_param');
  });

  test('the plan file, the session id and a variable of the host', async () => {
    expect(await refusal(`${mark}\n# ${SECRET}`)).toMatchObject({ code: 'secret_in_session', message: expect.stringContaining('the plan file (test.yaml:5)') });
    expect(await refusal(`description: "s3cr3t\\u002dv4lue-9"\n${mark}`)).toMatchObject({ code: 'secret_in_session' });
    expect(await refusal(mark, { sessionId: `run-${SECRET}` })).toMatchObject({ code: 'secret_in_session', message: expect.stringContaining('session id') });
    expect(await refusal('steps: { a: { run: "true", env: { URL: } } }', { hostEnv: { URL: `https://me:${SECRET}@host` } })).toMatchObject({ code: 'secret_in_session', message: expect.stringContaining('variable URL of the host') });
  });

  test('an ordinary word that is a secret is one only where it is the whole value', async () => {
    const value = 'postgres';
    expect(await refusal(`description: a postgres database\nparams: { image: { type: string } }\n${mark}`, { value, params: { image: 'postgres:16' } })).toBeUndefined();
    expect(await refusal(`params: { p: { type: string } }\n${mark}`, { value, params: { p: 'postgres' } })).toMatchObject({ code: 'secret_in_param' });
    for (const short of ['1', 'true', 'abc']) expect(await refusal(`params: { p: { type: string } }\n${mark}`, { value: short, params: { p: short } })).toBeUndefined();
  });

  test('a secret that an env passes through is read as a secret, not stored as a variable of the host', async () => {
    const store = await memoryStore();
    const plan = await loaded('secrets: [TOKEN]\nenv: { TOKEN: }\nsteps:\n  a: { run: "test $TOKEN = s3cr3t-v4\\"\\"lue-9" }\n  b: { run: "test $TOKEN = s3cr3t-v4\\"\\"lue-9", env: { TOKEN: } }');
    expect(plan.plan.host_env).toEqual([]);
    expect((await executor({ store, secrets, hostEnv: { PATH: process.env['PATH'], TOKEN: SECRET } }).run(plan, { sessionId: 'S' }).result).status).toBe('completed');
    expect(JSON.stringify(await store.getSession('S'))).not.toContain(SECRET);
    await expect(executor({ store, secrets: () => undefined }).run(plan).result).rejects.toMatchObject({ code: 'missing_secrets' });
    await expect(loaded('secrets: [TOKEN]\nsteps: { a: { set: { x: "${{ env.TOKEN }}" } } }')).rejects.toThrow('secret_not_allowed');
  });
});

test('who cancels or retries, and why, is masked', async () => {
  const store = await memoryStore();
  const bad = () => {
    throw new Error('no');
  };
  const one = executor({ store, secrets, functions: { hang: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))), bad } });
  const handle = one.run(await loaded('secrets: [TOKEN]\nsteps: { a: { call: { function: hang } } }'), { sessionId: 'S' });
  for await (const event of handle) if (event.type === 'step_started') await one.cancel('S', { actor: `me ${SECRET}`, reason: `because of ${SECRET}` });
  const events = await store.readEvents('S', { limit: 100 });
  expect(JSON.stringify(events)).not.toContain(SECRET);
  expect(events.find((event) => event.type === 'cancel_requested')?.data).toMatchObject({ reason: 'because of ***', actor: 'me ***' });
  await one.run(await loaded('secrets: [TOKEN]\nsteps: { a: { call: { function: bad } } }'), { sessionId: 'R' }).result;
  await one.retry('R', { actor: SECRET }).result;
  expect(JSON.stringify(await store.readEvents('R', { limit: 100 }))).not.toContain(SECRET);
});

test('a driver masks the reason of a cancel that came from where the secret is not set', async () => {
  const store = await memoryStore();
  const one = executor({ store, secrets, functions: { hang: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(null))) } });
  const handle = one.run(await loaded('secrets: [TOKEN]\nsteps: { a: { call: { function: hang } } }'), { sessionId: 'S' });
  for await (const event of handle) if (event.type === 'step_started') await executor({ store, secrets: () => undefined }).cancel('S', { actor: 'me', reason: SECRET });
  expect((await store.loadSteps('S')).get('a')?.state).toMatchObject({ status: 'cancelled', reason: 'cancelled by me: ***' });
});

test('why an expression failed on a secret does not show a part of it', async () => {
  const plan = await loaded('secrets: [TOKEN]\nsteps: { a: { run: "true", env: { X: "${{ \'x\'.matches(secrets.TOKEN) }}" } } }');
  const result = await executor({ store: await memoryStore(), secrets: () => 'front-part[behind-part' }).run(plan).result;
  expect(result.error?.message).not.toMatch(/front|behind/);
});
