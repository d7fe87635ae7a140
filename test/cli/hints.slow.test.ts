// What a command says beside its work: what changed, what was meant, what to type.
import { describe, expect, test } from 'vitest';
import { PlanFolder } from '../support/plan-command.js';

const head = 'plan: 1\nname: hints\n';

describe('a plan file that was edited after the start', () => {
  const failing = `${head}steps: { a: { run: "echo old; test -e go" } }\n`;

  test('is said not to be used, by resume and retry, in one line on stderr', async () => {
    const folder = new PlanFolder(failing);
    await folder.plan(['run', 'p.yaml', '--session', 'S']);
    folder.write('p.yaml', failing.replace('old', 'new'));
    for (const verb of ['resume', 'retry']) {
      const { stdout, stderr } = await folder.plan([verb, 'S']);
      expect(stderr).toMatch(/^note: p\.yaml was changed after session S was started, and the change is not used.*: plan run p\.yaml\n$/);
      expect(stdout).toContain('a | old');
    }
    folder.write('p.yaml', 'no plan: [');
    expect((await folder.plan(['resume', 'S'])).stderr).toContain('was changed');
  });

  test('is not spoken of when the plan is the same, or the file is gone', async () => {
    const folder = new PlanFolder(failing);
    await folder.plan(['run', './p.yaml', '--session', 'S']);
    expect((await folder.plan(['resume', 'S'])).stderr).toBe('');
    folder.write('p.yaml', `# a comment\n${failing}`);
    expect((await folder.plan(['resume', 'S'])).stderr).toBe('');
    folder.write('go', '');
    expect((await folder.bash('rm p.yaml; plan resume S')).stderr).toBe('');
  });
});

describe('hints', () => {
  test('a waiting session that nobody drives is resumed by the command that show and the report name', async () => {
    const folder = new PlanFolder(`${head}steps: { w: { wait: { for: 1s } } }\n`);
    const left = await folder.plan(['run', 'p.yaml', '--session', 'S', '--max-wait', '0s']);
    expect([left.code, left.stdout]).toEqual([3, expect.stringContaining('plan resume S') as string]);
    expect((await folder.plan(['show', 'S'])).stdout).toMatch(/next:\n {2}plan resume S /);
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
  });

  test('an unknown session names the one that was meant: near in spelling, or the only one that begins so', async () => {
    const folder = new PlanFolder(`${head}steps: { a: { set: { x: 1 } } }\n`);
    for (const session of ['release-monday', 'other']) await folder.plan(['run', 'p.yaml', '--session', session]);
    for (const typed of ['rel', 'relaese-monday']) {
      const { code, stderr } = await folder.plan(['show', typed]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: there is no session .*; did you mean release-monday\?\n$/) as string]);
    }
  });

  test('a completed session is final: resume has nothing to do, retry refuses, with --from too', async () => {
    const folder = new PlanFolder(`${head}steps: { a: { set: { x: 1 } } }\n`);
    await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    for (const args of [['retry', 'S'], ['retry', 'S', '--from', 'a']]) {
      const { code, stderr } = await folder.plan(args);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/a completed session is final.*plan run p\.yaml/) as string]);
    }
  });

  test('exit codes that a shell makes of a signal say of which, and what to do about a pipe', async () => {
    const folder = new PlanFolder(`${head}on_failure: continue\nsteps:\n  pipe: { run: "yes | head -1" }\n  killed: { run: "sh -c 'kill -9 $$'; true" }\n`);
    const { stdout } = await folder.plan(['run', 'p.yaml', '--session', 'S']);
    expect(stdout).toMatch(/pipe: failed .*exit code 141: .*\(SIGPIPE\).*\|\| \[ \$\? -eq 141 \]/);
    expect(stdout).toMatch(/killed: failed .*exit code 137: .*ended by SIGKILL/);
  });

  test('a time is the same in every view, also of a session that stood still', async () => {
    const folder = new PlanFolder(`${head}steps: { a: { run: "sleep 0.2" }, b: { needs: [a], run: "touch up; test -e go || exec sleep 60" } }\n`);
    const first = folder.start(['run', 'p.yaml', '--session', 'S']);
    await folder.untilFile('up');
    first.child.kill('SIGINT');
    await first.ended;
    folder.write('go', '');
    const { stdout } = await folder.plan(['resume', 'S']);
    const show = await folder.plan(['show', 'S']);
    const events = await folder.plan(['events', 'S']);
    const b = /^b: completed in (\S+) \(\d+ms in this run\)/m.exec(stdout)?.[1] as string;
    expect(show.stdout).toMatch(new RegExp(`^b .* ${b}`, 'm'));
    expect(events.stdout).toContain(`b: completed in ${b}`);
    const whole = /session S: completed after (\S+) \((\S+) in this run\)/.exec(stdout);
    expect(whole).not.toBeNull();
    expect(show.stdout).toContain(`took ${whole?.[1]}`);
    expect((await folder.plan(['list'])).stdout).toContain(` ${whole?.[1]}`);
  });
});
