import { afterEach, expect, test, vi } from 'vitest';
import { createClient } from './client.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('a call waits half a minute, and longer where its answer takes longer', async () => {
  vi.stubGlobal('fetch', async () => Response.json({}));
  const waited = vi.spyOn(AbortSignal, 'timeout');
  const client = createClient({ headers: () => ({}), onUnauthenticated: () => {} });
  await client.post('/api/quick');
  await client.post('/api/slow', {}, { timeoutMs: 3_600_000 });
  expect(waited.mock.calls).toEqual([[30_000], [3_600_000]]);
});
