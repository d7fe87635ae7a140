import { Session } from 'node:inspector';
import { spawn } from 'node:child_process';
import { test } from 'vitest';
import { contextOf, execute } from '../actions/support.js';
test('bench', async () => {
  const N = 300;
  const context = contextOf({ kind: 'run', script: 'true' });
  await execute({ kind: 'run', argv: ['/bin/true'] }, context);
  const floor = async () => { const t = performance.now();
  for (let i = 0; i < N; i += 1) await new Promise((r) => spawn('/bin/true', [], { stdio: ['ignore', 'pipe', 'pipe'], detached: true }).once('close', r));
  console.log('floor spawn true 2 pipes', (performance.now() - t) / N); };
  await floor();
  const s = new Session(); s.connect(); s.post('Profiler.enable'); s.post('Profiler.start');
  let t = performance.now();
  for (let i = 0; i < N; i += 1) await execute({ kind: 'run', argv: ['/bin/true'] }, context);
  console.log('run argv', (performance.now() - t) / N);
  await new Promise<void>((done) => s.post('Profiler.stop', (_, { profile }) => {
    const self = new Map<string, number>(); const dt = profile.timeDeltas!; const names = new Map(profile.nodes.map((n) => [n.id, `${n.callFrame.functionName} ${n.callFrame.url.split('/').slice(-2).join('/')}:${n.callFrame.lineNumber}`]));
    profile.samples!.forEach((id, i) => self.set(names.get(id)!, (self.get(names.get(id)!) ?? 0) + dt[i]!));
    console.log('run prof\n' + [...self].sort((a, b) => b[1] - a[1]).slice(0, 22).map(([n, v]) => `run ${(v / 1000 / N).toFixed(3)} ${n}`).join('\n')); done();
  }));
  await floor();
}, 60000);
