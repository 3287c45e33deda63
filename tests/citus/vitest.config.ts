import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// `npm run citus`: the contract tests on a cluster, and what only a cluster can show.
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..'),
    include: ['tests/contract/**/*.db.test.ts', 'tests/citus/**/*.db.test.ts'],
    globalSetup: ['tools/test-database.ts'],
    isolate: false,
    unstubEnvs: true,
    // The servers of a cluster share the machine with the tests, as a rule, and each tenant of a batch costs its own statements.
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
