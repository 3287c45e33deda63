import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// `npm run pages`: everything in a browser. The ways of people through both dashboards and a look at every page, which
// `npm test` goes, too; and all that can go wrong there or that a single page must do, which takes as long again and mostly waits.
export default defineConfig({
  test: {
    root: join(import.meta.dirname, '..', '..'),
    include: ['tests/browser/**/*.test.ts'],
    globalSetup: ['tools/test-database.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 3,
    isolate: false,
    unstubEnvs: true,
  },
});
