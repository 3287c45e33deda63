import { createClient, createQueryClient, type ListPage, type Query } from '@libs/ui';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { mode } from './mode.ts';

/** Set by the router, which knows where one is. */
export const sessionOver = { lead: () => {} };

export const client = createClient({
  headers: { 'payments-mode': mode },
  onUnauthenticated: () => sessionOver.lead(),
});

export const queryClient = createQueryClient();

/** One object of the API; what changed is told by `refresh`. */
export function useObject<Value>(
  path: string,
  options: { query?: Query; enabled?: boolean; refetchMs?: number } = {},
) {
  const { query = {}, enabled = true, refetchMs } = options;
  return useQuery({
    queryKey: [path, query],
    queryFn: ({ signal }) => client.get<Value>(path, { query, signal }),
    enabled,
    ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs }),
  });
}

/** A page of a list; while the next one is on its way, this one stays. */
export function useList<Row>(path: string, query: Query = {}, options: { enabled?: boolean } = {}) {
  return useQuery({
    queryKey: [path, query],
    queryFn: ({ signal }) => client.get<ListPage<Row>>(path, { query, signal }),
    placeholderData: keepPreviousData,
    enabled: options.enabled ?? true,
  });
}

/** Reads anew what begins with these paths, wherever it is shown. */
export async function refresh(...paths: string[]): Promise<void> {
  await queryClient.invalidateQueries({
    predicate: ({ queryKey }) => paths.some((path) => String(queryKey[0]).startsWith(path)),
  });
}
