// The private folders of steps: what a SIGKILL leaves of them, and where they go when memory has no room.
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PlanFolder } from '../support/plan-command.js';

const BIN = resolve(import.meta.dirname, '../../bin/plan.js');
const places = [...new Set(['/dev/shm', tmpdir()])];
const madeBy = (pid: number) => places.flatMap((place) => readdirSync(place).filter((name) => name.startsWith(`planwright-${pid}.`)).map((name) => join(place, name)));

const HANGS = 'plan: 1\nname: p\nsteps:\n  a: { stdin: "x", stdout: text, run: "test -e go && exit 0; touch up; sleep 30721" }\n';

async function killed(): Promise<{ folder: PlanFolder; left: string[]; pid: number }> {
  const folder = new PlanFolder(HANGS);
  const { child, ended } = folder.start(['run', 'p.yaml', '--session', 'S']);
  await folder.untilFile('up');
  child.kill('SIGKILL');
  await ended;
  const pid = child.pid as number;
  folder.write('go', '');
  return { folder, pid, left: madeBy(pid) };
}

describe('what a killed driver left in the private places', () => {
  test('is removed when its session goes on, whatever else is known of it', async () => {
    const { folder, pid, left } = await killed();
    expect(left.length).toBeGreaterThan(0);
    rmSync(join(folder.dir, '.plan/logs/S/a.1.1.log.pid'));
    expect((await folder.plan(['resume', 'S'])).code).toBe(0);
    expect(madeBy(pid)).toEqual([]);
  });

  test('is removed by doctor, and what a living one uses is not', async () => {
    const { folder, pid } = await killed();
    const living = new PlanFolder(HANGS);
    const run = living.start(['run', 'p.yaml', '--session', 'S']);
    await living.untilFile('up');
    const doctor = await folder.plan(['doctor']);
    expect(doctor.stdout).toMatch(/ok +private folders: .*dead processes left there w(as|ere) removed/);
    expect(madeBy(pid)).toEqual([]);
    expect(madeBy(run.child.pid as number).length).toBeGreaterThan(0);
    living.write('go', '');
    run.child.kill('SIGINT');
    await run.ended;
    expect(madeBy(run.child.pid as number)).toEqual([]);
    expect((await folder.plan(['cancel', 'S'])).code).toBe(0);
  });
});

const canMount = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs x /dev/shm']).status === 0;

/** `plan run p.yaml` where /dev/shm is a file system of its own. */
function runWithShm(folder: PlanFolder, options: string, before = ':', env: { [name: string]: string } = {}) {
  const script = `mount -t tmpfs -o ${options} x /dev/shm && ${before} && "$0" "$1" run p.yaml --session S; code=$?; ls -A /dev/shm > left; exit $code`;
  return spawnSync('unshare', ['-m', 'sh', '-c', script, process.execPath, BIN], { cwd: folder.dir, encoding: 'utf8', env: { ...process.env, ...env } });
}

describe.skipIf(!canMount)('a /dev/shm', () => {
  const plan = 'plan: 1\nname: p\nsteps:\n  a: { outputs: { n: integer }, stdin: "in", run: "cat > in; head -c 3000000 /dev/zero | tr \'\\\\0\' \'\\\\n\' >> $PLAN_OUTPUT; echo n=7 >> $PLAN_OUTPUT; dirname $PLAN_OUTPUT > where" }\n';

  test.each([
    ['that is small', 'size=1m', ':'],
    ['that is full', 'size=64m', 'head -c 64000000 /dev/zero > /dev/shm/full'],
    ['where a folder can be made but no file in it', 'nr_inodes=2', ':'],
  ])('%s is not used', (_, options, before) => {
    const folder = new PlanFolder(plan);
    const run = runWithShm(folder, options, before);
    expect(run.status, run.stderr).toBe(0);
    expect(folder.read('where')).not.toContain('/dev/shm');
    expect(folder.lines('left').filter((name) => name !== 'full')).toEqual([]);
    expect(folder.read('in')).toBe('in');
  });

  test('that cannot be used and a TMPDIR that does not exist: the error says where and what to do', () => {
    const folder = new PlanFolder(plan);
    const run = runWithShm(folder, 'size=1m', ':', { TMPDIR: '/no/such/folder' });
    expect(run.status).toBe(1);
    expect(run.stderr + run.stdout).toMatch(/\/dev\/shm is full or too small, \/no\/such\/folder \(TMPDIR\) does not exist; make room there, or set TMPDIR/);
    const doctor = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs -o size=1m x /dev/shm && "$0" "$1" doctor', process.execPath, BIN], { cwd: folder.dir, encoding: 'utf8', env: { ...process.env, TMPDIR: '/no/such/folder' } });
    expect(doctor.stdout).toMatch(/error +private folders: .*does not exist\n +make room there, or set TMPDIR/);
  });
});

test('what a step does to its private folder never changes how it ends', async () => {
  const steps: { [id: string]: string } = {
    removes: 'rm -rf "$(dirname "$PLAN_OUTPUT")"',
    fills: 'd=$(dirname "$PLAN_OUTPUT"); mkdir -p "$d/deep/er"; touch "$d/deep/er/x"; chmod 0 "$d/deep/er" "$d/deep" "$d"',
    ...(canMount ? { mounts: 'd=$(dirname "$PLAN_OUTPUT"); mkdir "$d/m"; mount -t tmpfs x "$d/m"; echo "$d" > mounted' } : {}),
  };
  const folder = new PlanFolder(`plan: 1\nname: p\non_failure: continue\nsteps:\n${Object.entries(steps).map(([id, run]) => `  ${id}: { run: ${JSON.stringify(run)} }\n  ${id}_fails: { run: ${JSON.stringify(`${run.replace('mounted', 'mounted2')}; exit 9`)} }`).join('\n')}\n`);
  try {
    await folder.plan(['run', 'p.yaml', '--session', 'S']);
    const shown = await folder.json<{ steps: Array<{ id: string; status: string; error?: { exit_code: number } }> }>(['show', 'S']);
    for (const id of Object.keys(steps)) {
      expect(shown.steps.find((step) => step.id === id)?.status, id).toBe('completed');
      expect(shown.steps.find((step) => step.id === `${id}_fails`)?.error?.exit_code, id).toBe(9);
    }
  } finally {
    for (const file of ['mounted', 'mounted2']) {
      for (const path of folder.lines(file)) {
        spawnSync('umount', [join(path, 'm')]);
        rmSync(path, { recursive: true, force: true });
      }
    }
  }
});
