import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{libs,services,tests,tools,sdks}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/.data/**'],
    globalSetup: ['tools/test-database.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Two cores: two workers keep both busy, and tests that wait on timers do not starve each other.
    maxWorkers: 2,
  },
});
