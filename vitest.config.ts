import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tools/test-order.ts';

const databaseTests = '{libs,services,tests,tools,sdks}/**/*.db.{,property.}test.ts';

export default defineConfig({
  test: {
    // Limits for what never comes, not for what is slow: a machine with other work may take ten times as long, and whoever
    // is quick waits no longer by this.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // One more than the two cores that a run must do with: many tests wait, for processes, timers and the database. With four
    // the whole takes as long, and browsers wait for each other.
    maxWorkers: 3,
    // Files share their worker, which reads the services once: half of the work of a run was reading them again for every
    // file. So a test leaves the process as it found it (environment, time zone, listeners).
    isolate: false,
    unstubEnvs: true,
    // Many tests start the services as processes: what Node compiled for one of them serves the next.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules', '.cache', 'node') },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{libs,services,tests,tools,sdks}/**/*.test.ts'],
          // With `npm run pages` alone, as some of the other project.
          exclude: ['**/node_modules/**', '**/.data/**', databaseTests, 'tests/browser/guides/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'db',
          include: [databaseTests],
          // On a cluster alone, and with `npm run pages` alone: each has a vitest.config.ts of its own.
          exclude: [
            '**/node_modules/**',
            '**/.data/**',
            'tests/citus/**',
            'tests/browser/**/{mishaps,pages,particulars,reference}.db.test.ts',
          ],
          globalSetup: ['tools/test-database.ts'],
        },
      },
    ],
  },
});
