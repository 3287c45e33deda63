import { keepPreviousData, type QueryClient, type UseQueryResult } from '@tanstack/react-query';
import type { ListPage } from '../table/query-table.tsx';
import type { Client, Query } from './client.ts';
import { ApiError } from './problem.ts';
import { createQueryClient } from './query-client.ts';
import { type FollowMs, useReading } from './reading.ts';

export interface ListOptions<Row> {
  enabled?: boolean;
  /** After how long it is read again by itself, as the page that is shown tells. */
  refetchMs?: (page: ListPage<Row>) => number | false;
}

interface ObjectOptions<Value> {
  query?: Query;
  enabled?: boolean;
  /** As of lists; a number where it is the same whatever was read. */
  refetchMs?: FollowMs<Value>;
}

export interface Api {
  queryClient: QueryClient;
  /** One object of the API; what changed is told by `refresh`. */
  useObject<Value>(path: string, options?: ObjectOptions<Value>): UseQueryResult<Value>;
  /** A page of a list; while the next one is on its way, this one stays. */
  useList<Row>(path: string, query?: Query, options?: ListOptions<Row>): UseQueryResult<ListPage<Row>>;
  /** Reads anew what begins with these paths, wherever it is shown. */
  refresh(...paths: string[]): Promise<void>;
}

/** What was read before is not shown of an object that is no more: whoever goes back to its page would act on nothing. */
function withoutGone<Value>(query: UseQueryResult<Value>): UseQueryResult<Value> {
  const isGone = query.error instanceof ApiError && query.error.status === 404;
  return isGone ? ({ ...query, data: undefined } as UseQueryResult<Value>) : query;
}

/** What pages read, and how they are told that it changed. */
export function createApi(client: Client): Api {
  const queryClient = createQueryClient();
  return {
    queryClient,
    useObject: <Value>(path: string, { query = {}, enabled = true, refetchMs }: ObjectOptions<Value> = {}) =>
      withoutGone(
        useReading({
          queryKey: [path, query],
          queryFn: ({ signal }) => client.get<Value>(path, { query, signal }),
          enabled,
          refetchMs,
        }),
      ),
    useList: <Row>(path: string, query: Query = {}, { enabled = true, refetchMs }: ListOptions<Row> = {}) =>
      useReading({
        queryKey: [path, query],
        queryFn: ({ signal }) => client.get<ListPage<Row>>(path, { query, signal }),
        placeholderData: keepPreviousData,
        enabled,
        refetchMs,
      }),
    async refresh(...paths) {
      const changed = {
        predicate: ({ queryKey }: { queryKey: readonly unknown[] }) =>
          paths.some((path) => String(queryKey[0]).startsWith(path)),
      };
      // A first read that is still under way may have seen what was there before, and would pass for the new one.
      await queryClient.cancelQueries(changed);
      await queryClient.invalidateQueries(changed);
    },
  };
}
