// docs/states.md is what the table of core/transitions.ts says. To write it anew: npx vitest run test/core/states-doc.test.ts -u
import { expect, test } from 'vitest';
import { SESSION_STATUSES, TERMINAL_SESSION_STATUSES } from '../../src/core/session-state.js';
import { STEP_STATUSES, TERMINAL_STEP_STATUSES } from '../../src/core/step-state.js';
import { SESSION_TRANSITIONS, STEP_TRANSITIONS, type Transition } from '../../src/core/transitions.js';

const names = (list: readonly string[]) => list.map((name) => `\`${name}\``).join(' ');

function table(rows: readonly Transition<string>[]): string {
  const lines = rows.map((row) => `| \`${row.event}\` | ${names(row.from)} | \`${row.to}\` | ${row.by} | ${row.checked} | ${row.saved} | ${row.then} |`);
  return ['| event | from | to | who makes it | checked first | saved with it | what an operator can do next |', '|---|---|---|---|---|---|---|', ...lines].join('\n');
}

function document(): string {
  return `# States

Generated from \`src/core/transitions.ts\`, the one table that the program itself obeys: a change that is not a row
here is refused. Words are the same in YAML, TypeScript, SQL, JSON and messages.

## Steps

Open: ${names(STEP_STATUSES.filter((status) => !(TERMINAL_STEP_STATUSES as readonly string[]).includes(status)))}.
Terminal: ${names(TERMINAL_STEP_STATUSES)}. A terminal state of a generation is never replaced by one that is not;
\`step_reset\` begins a new generation.

${table(STEP_TRANSITIONS)}

## Sessions

Open: ${names(SESSION_STATUSES.filter((status) => !(TERMINAL_SESSION_STATUSES as readonly string[]).includes(status)))}.
Terminal: ${names(TERMINAL_SESSION_STATUSES)}.

${table(SESSION_TRANSITIONS)}
`;
}

test('docs/states.md says what the table says', async () => {
  await expect(document()).toMatchFileSnapshot('../../docs/states.md');
});
