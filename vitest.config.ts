import { defineConfig } from 'vitest/config';

// `quick` is what `npm run check` runs; `slow` kills real processes, or drives the binary (dist must be built).
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: ['test/**/*.slow.test.ts'], testTimeout: 20_000 } },
      { test: { name: 'slow', include: ['test/**/*.slow.test.ts'], testTimeout: 120_000, hookTimeout: 60_000 } },
    ],
    reporters: ['default', './test/support/count-reporter.ts'],
    pool: 'forks',
    maxWorkers: 2,
  },
});
