import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

// `npm run pages`: everything in a browser. The ways of people through both dashboards, which `npm test` goes, too; a look at
// every page, what single pages must do and all that can go wrong there, which takes longer and mostly waits.
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
