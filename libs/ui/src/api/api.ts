import { keepPreviousData, type QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ListPage } from '../table/query-table.tsx';
import type { Client, Query } from './client.ts';
import { createQueryClient } from './query-client.ts';

export interface ListOptions<Row> {
  enabled?: boolean;
  /** After how long it is read again by itself, as the page that is shown tells. */
  refetchMs?: (page: ListPage<Row>) => number | false;
}

export interface Api {
  queryClient: QueryClient;
  /** One object of the API; what changed is told by `refresh`. */
  useObject<Value>(
    path: string,
    options?: { query?: Query; enabled?: boolean; refetchMs?: number },
  ): UseQueryResult<Value>;
  /** A page of a list; while the next one is on its way, this one stays. */
  useList<Row>(path: string, query?: Query, options?: ListOptions<Row>): UseQueryResult<ListPage<Row>>;
  /** Reads anew what begins with these paths, wherever it is shown. */
  refresh(...paths: string[]): Promise<void>;
}

/** What pages read, and how they are told that it changed. */
export function createApi(client: Client): Api {
  const queryClient = createQueryClient();
  return {
    queryClient,
    useObject<Value>(
      path: string,
      options: { query?: Query; enabled?: boolean; refetchMs?: number } = {},
    ): UseQueryResult<Value> {
      const { query = {}, enabled = true, refetchMs } = options;
      return useQuery({
        queryKey: [path, query],
        queryFn: ({ signal }) => client.get<Value>(path, { query, signal }),
        enabled,
        ...(refetchMs === undefined ? {} : { refetchInterval: refetchMs }),
      });
    },
    useList: <Row>(path: string, query: Query = {}, { enabled = true, refetchMs }: ListOptions<Row> = {}) =>
      useQuery({
        queryKey: [path, query],
        queryFn: ({ signal }) => client.get<ListPage<Row>>(path, { query, signal }),
        placeholderData: keepPreviousData,
        enabled,
        refetchInterval: ({ state }) =>
          state.data === undefined || refetchMs === undefined ? false : refetchMs(state.data),
      }),
    refresh: (...paths) =>
      queryClient.invalidateQueries({
        predicate: ({ queryKey }) => paths.some((path) => String(queryKey[0]).startsWith(path)),
      }),
  };
}
