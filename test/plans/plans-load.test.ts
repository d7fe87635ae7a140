import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadPlan } from '../../src/index.js';

const FOLDER = fileURLToPath(new URL('../../plans/', import.meta.url));
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));

test('the report and at least five more plans are shipped', () => {
  expect(files).toEqual(expect.arrayContaining(['repo-report.yaml', 'etl.yaml', 'quality-gate.yaml', 'backup.yaml', 'log-report.yaml', 'incident-runbook.yaml']));
});

test.each(files)('plans/%s is valid, without a warning', async (file) => {
  const result = await loadPlan(`${FOLDER}${file}`);
  const said = result.ok ? result.warnings : result.problems;
  expect(said.map((problem) => `${problem.line}:${problem.column} ${problem.code}: ${problem.message}`)).toEqual([]);
});
