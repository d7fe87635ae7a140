import { describe, expect, test } from 'vitest';
import { auditSession, loadPlan, shapeOf } from '../../src/index.js';
import { executor, memoryStore } from '../support/sessions.js';
import { levelsOf, planOf, readInstances, stepIdOf, WF_FOLDER, type WfInstance } from './wf-instance.js';

const instances = readInstances();
if (instances.length === 0) {
  test.skip(`real workflow DAGs: skipped, there are none in ${WF_FOLDER} (WFINSTANCES names another folder)`, () => undefined);
}

test('task ids become step ids one to one', () => {
  const awkward = ['a.b', 'a-b', 'a_b', 'a-2eb', 'a b', 'ä', '1', '', 'x'.repeat(150), `${'x'.repeat(149)}y`];
  const ids = awkward.map(stepIdOf);
  expect(new Set(ids).size).toBe(awkward.length);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/);
});

describe.each(instances.map((instance) => [instance.file, instance] as const))('%s', (_, instance) => {
  const levels = levelsOf(instance);

  test('is a plan whose layers are the longest ways to its tasks', async () => {
    const { plan } = await load(instance, 'layered');
    expect(plan.steps).toHaveLength(instance.tasks.length);
    const expected: string[][] = [];
    for (const task of instance.tasks) (expected[levels.get(task.id) as number] ??= []).push(stepIdOf(task.id));
    expect(shapeOf(plan).layers.main.map((layer) => [...layer].sort())).toEqual(expected.map((layer) => layer.sort()));
  });

  for (const scheduling of ['layered', 'eager'] as const) {
    test(`runs every task once, after its parents, ${scheduling}`, async () => {
      const loaded = await load(instance, scheduling);
      const begun = new Map<string, number>();
      const ended = new Map<string, number>();
      let calls = 0;
      let now = 0;
      const store = await memoryStore();
      const task = async (_args: unknown, { step_id: id }: { step_id: string }) => {
        calls += 1;
        begun.set(id, (now += 1));
        await new Promise((resolve) => setImmediate(resolve));
        ended.set(id, (now += 1));
        return null;
      };
      const result = await executor({ store, functions: { task } }).run(loaded, { sessionId: 'S' }).result;

      expect(result).toMatchObject({ status: 'completed', counts: { completed: instance.tasks.length } });
      expect([calls, begun.size]).toEqual([instance.tasks.length, instance.tasks.length]);
      const early = instance.tasks.flatMap((t) => t.parents.filter((p) => (ended.get(stepIdOf(p)) as number) > (begun.get(stepIdOf(t.id)) as number)).map((p) => `${t.id} before ${p}`));
      expect(early).toEqual([]);
      if (scheduling === 'layered') expect(outOfLayer(instance, levels, begun, ended)).toEqual([]);
      expect((await auditSession(store, 'S')).differences).toEqual([]);
    });
  }
});

async function load(instance: WfInstance, scheduling: 'layered' | 'eager') {
  const result = await loadPlan({ definition: planOf(instance, scheduling) });
  if (!result.ok) throw new Error(result.problems.slice(0, 5).map((p) => `${p.code}: ${p.message}`).join('\n'));
  return result;
}

// Tasks that began before every task of the layer before theirs had ended.
function outOfLayer(instance: WfInstance, levels: ReadonlyMap<string, number>, begun: ReadonlyMap<string, number>, ended: ReadonlyMap<string, number>): string[] {
  const lastEnd: number[] = [];
  for (const task of instance.tasks) {
    const level = levels.get(task.id) as number;
    lastEnd[level] = Math.max(lastEnd[level] ?? 0, ended.get(stepIdOf(task.id)) as number);
  }
  return instance.tasks.map((t) => t.id).filter((id) => (begun.get(stepIdOf(id)) as number) < (lastEnd[(levels.get(id) as number) - 1] ?? 0));
}
