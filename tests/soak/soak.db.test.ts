// The short form of `npm run soak`: seconds instead of minutes, in which what leaks in each request would show already.
import { createTestDatabase } from '@libs/db/testing';
import { expect, test } from 'vitest';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { soak } from './soak.ts';

const SECONDS = 4;

test('under a load that it can bear, nothing is stuck, nothing piles up and the endpoint is told of all', {
  timeout: 240_000,
}, async () => {
  const testDatabase = await createTestDatabase(paymentsMigrations());
  try {
    const { samples, stuck, untold, measuredPerSecond } = await soak({
      ...{ databaseUrl: testDatabase.url, seconds: SECONDS, measureSeconds: 1, share: 0.5 },
    });
    expect(stuck).toBe(0);
    expect(untold).toBe(0);
    const last = samples.at(-1);
    expect(last?.payments).toBeGreaterThan(measuredPerSecond);
    expect(last?.connections).toBeLessThanOrEqual((samples[1]?.connections ?? 0) + 8);
    // A queue that nobody empties would hold as many as were sent.
    expect(last?.waiting).toBeLessThan((last?.payments ?? 0) / 2);
  } finally {
    await testDatabase.drop();
  }
});
