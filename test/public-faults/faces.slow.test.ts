// Sections 11 and 12: secrets, exit codes, pipes, names.
import { describe, expect, test } from 'vitest';
import { Case, planText } from './case.js';

const SECRET = 's3cr3t-v4lue-9';

describe.concurrent('secrets', () => {
  test('B57: a secret comes out on no sink: terminal, logs, events, errors, JSON, database', async (context) => {
    const folder = new Case(context, planText('leak', `secrets: [TOKEN]
on_failure: continue
steps:
  a: { env: { TOKEN: "\${{ secrets.TOKEN }}" }, run: "echo using $TOKEN; echo fatal http://u:$TOKEN@host >&2; exit 1" }
  slow: { env: { TOKEN: "\${{ secrets.TOKEN }}" }, run: 'printf "%s" "$(echo $TOKEN | cut -c1-6)"; sleep 0.3; echo $TOKEN | cut -c7-' }
  value: { env: { TOKEN: "\${{ secrets.TOKEN }}" }, run: "printf '{\\"t\\":\\"%s\\"}' $TOKEN", stdout: json }
  base64: { env: { TOKEN: "\${{ secrets.TOKEN }}" }, run: "printf %s $TOKEN | base64; exit 1" }
  call: { call: { function: "./m.mjs#bad", args: { token: "\${{ secrets.TOKEN }}" } } }
  http: { http: { url: "http://127.0.0.1:1/\${{ secrets.TOKEN }}", headers: { Authorization: "Bearer \${{ secrets.TOKEN }}" } } }
`));
    folder.write('m.mjs', 'export const bad = ({ token }) => { throw Object.assign(new Error(`denied for ${token}`), { token, cause: new Error(token) }); };\n');
    const env = { TOKEN: SECRET };
    const ran = await folder.bash('plan run p.yaml --session S > o 2>&1; echo "rc $?"; (plan show S --json; plan show S; plan logs S a) >> o 2>&1', env);
    expect(ran.stdout).toBe('rc 1\n');
    const more = await folder.bash('plan events S --json; plan logs S; plan resume S --json; plan doctor', { ...env, PLAN_DEBUG: '1' });
    const everything = folder.read('o') + more.stdout + more.stderr + folder.storeBytes().toString('latin1');
    const forms = [SECRET, Buffer.from(SECRET).toString('base64'), SECRET.slice(0, -1)];
    expect(forms.filter((form) => everything.includes(form))).toEqual([]);
    expect(folder.read('o')).toMatch(/^using \*\*\*$/m);
  });

  test('B59: steps that never ran show templates, and a resume without the secret says which before it starts anything', async (context) => {
    const folder = new Case(context, planText('norun', `secrets: [TOKEN]
steps:
  a: { run: "echo a >> fx; exit 1" }
  b: { needs: [a], env: { AUTH: "Bearer \${{ secrets.TOKEN }}" }, run: "echo hi >> fx" }
`));
    const ran = await folder.bash('plan run p.yaml --session S > o 2>&1; echo "rc $?"; plan show S --json >> o', { TOKEN: SECRET });
    expect(ran.stdout).toBe('rc 1\n');
    expect(folder.read('o') + folder.storeBytes().toString('latin1')).not.toContain(SECRET);
    const resumed = await folder.plan(['resume', 'S']);
    expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringMatching(/TOKEN.*\bb\b/s)]);
    expect(folder.lines('fx')).toEqual(['a']);
    expect((await folder.step('b')).skip_reason).toMatchObject({ kind: 'upstream_failed', by: 'a' });
  });
});

describe.concurrent('command line', () => {
  test('B62: one failed step makes the run failed, an invalid plan is exit 2, and the code of a step is data', async (context) => {
    const folder = new Case(context, planText('codes', `on_failure: continue
steps:
  good: { run: "echo good >> fx" }
  bad: { run: "exit 3" }
  tail: { needs: [good], run: "echo tail >> fx" }
`));
    const script = `plan run p.yaml --session S > o; echo $?; echo 'steps: 5' > q.yaml; for f in q.yaml nofile.yaml .; do plan validate $f > o 2>&1; echo $?; plan run $f --session N > o 2>&1; echo $?; done; plan show NOPE 2> o; echo $?; plan resume NOPE 2> o; echo $?; plan frobnicate 2> o; echo $?`;
    expect((await folder.bash(script)).stdout.trim().split('\n').map(Number)).toEqual([1, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
    expect(folder.lines('fx')).toEqual(['good', 'tail']);
    const shown = await folder.show();
    expect(shown).toMatchObject({ status: 'failed', error: { step_id: 'bad', exit_code: 3 } });
    // Resumable: the failed step runs again, the others do not.
    expect((await folder.plan(['resume', 'S'])).code).toBe(1);
    expect(folder.lines('fx')).toEqual(['good', 'tail']);
    expect(await folder.step('bad')).toMatchObject({ generation: 2 });
  });

  test('B64: a reader that goes away is no error, and the store tells what happened', async (context) => {
    const folder = new Case(context, planText('head', `steps:
  a: { run: "seq 3000; echo x >> fx" }
  b: { needs: [a], run: "sleep 0.7; seq 3000; echo x >> fx" }
  c: { needs: [b], run: "sleep 0.7; seq 3000; echo x >> fx" }
`));
    const ran = await folder.bash('plan run p.yaml --session S 2> err | head -1; echo "rc ${PIPESTATUS[0]}"; plan show S 2>> err | head -1 > /dev/null; plan logs S 2>> err | head -1 > /dev/null; plan events S --json 2>> err | head -1 > /dev/null');
    expect(ran.stdout).toMatch(/rc 0\n$/);
    expect(folder.read('err')).toBe('');
    expect([(await folder.show()).status, folder.lines('fx').length]).toEqual(['completed', 3]);
  });

  test('B66: ids and session names that are no safe file names are refused, and nothing is written outside', async (context) => {
    const folder = new Case(context, planText('paths', `steps:
  "../../escape": { run: "echo 1 >> fx" }
  "a/b": { run: "echo 2 >> fx" }
  "a:b": { run: "echo 3 >> fx" }
  "CON": { run: "echo 4 >> fx" }
`));
    folder.write('good.yaml', planText('good', 'steps: { a: { run: "echo 1 >> fx" } }\n'));
    const script = 'mkdir -p w/x; cp p.yaml good.yaml w/x; cd w/x; sleep 0.05; plan run p.yaml --session S; echo "rc $?"; for s in ../../T /tmp/T a/b a:b .. NUL "" "a b" ; do plan run good.yaml "--session=$s" 2> /dev/null; echo "rc $?"; plan show "$s" 2> /dev/null; echo "rc $?"; done; find ../.. -newer p.yaml -type f ! -path "*/w/x/*"; ls -A';
    const ran = await folder.bash(script);
    for (const id of ['../../escape', 'a/b', 'a:b', 'CON']) expect(ran.stderr).toContain(`"${id}"`);
    expect(ran.stdout.trim().split('\n')).toEqual([...Array.from({ length: 17 }, () => 'rc 2'), 'good.yaml', 'p.yaml']);
  });
});
