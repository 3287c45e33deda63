import { expect, test } from 'vitest';
import { stopWork } from './stopping.ts';

test('webhooks stop while a job is still under way, and the stop ends with both', async () => {
  const steps: string[] = [];
  const job = Promise.withResolvers<void>();
  const stopping = stopWork(
    {
      async drain() {
        await job.promise;
        steps.push('jobs');
      },
    },
    [{ background: { start: async () => {}, stop: async () => void steps.push('webhooks') } }, {}],
  ).then(() => steps.push('stopped'));
  await Promise.resolve();
  expect(steps).toEqual(['webhooks']);
  job.resolve();
  await stopping;
  expect(steps).toEqual(['webhooks', 'jobs', 'stopped']);
});
