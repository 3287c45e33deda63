import { QueryClient } from '@tanstack/react-query';
import { connection } from './connection.ts';
import { ConnectionLost } from './problem.ts';

const RETRIES_MAX = 2;
const FRESH_MS = 5_000;

/** What was read is kept for the page; what the server refused is not asked for again by itself. */
export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        networkMode: 'always',
        retry: (failures, error) => error instanceof ConnectionLost && failures < RETRIES_MAX,
      },
      // Never by itself: only a person knows whether it shall be sent again.
      mutations: { retry: false, networkMode: 'always' },
    },
  });
  connection.subscribe(() => {
    if (!connection.isLost()) void client.invalidateQueries();
  });
  return client;
}
