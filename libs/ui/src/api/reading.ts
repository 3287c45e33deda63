import {
  hashKey,
  type PlaceholderDataFunction,
  type QueryFunction,
  type UseQueryResult,
  useQuery,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { ApiError } from './problem.ts';

const AGAIN_MS_MIN = 5_000;
const AGAIN_MS_MAX = 60_000;
const TOO_MANY_REQUESTS = 429;
const FAULT_OF_THE_SERVER = 500;

export type FollowMs<Value> = number | ((value: Value) => number | false);

export interface Reading<Value> {
  queryKey: readonly unknown[];
  queryFn: QueryFunction<Value>;
  enabled?: boolean;
  placeholderData?: PlaceholderDataFunction<Value>;
  /** After how long it is read again by itself; a number where it is the same whatever was read. */
  refetchMs?: FollowMs<Value> | undefined;
}

/** What was refused stays so until somebody asks otherwise; what the server could not do it may do a moment later. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status >= FAULT_OF_THE_SERVER || error.status === TOO_MANY_REQUESTS;
}

/** When the next try follows where nothing was ever read, ever more slowly: no page shows then how often it is to be followed. */
export function askedAgainMs(error: unknown, failures: number): number | false {
  return mayPass(error) && Math.min(AGAIN_MS_MIN * 2 ** (failures - 1), AGAIN_MS_MAX);
}

/** What a page reads: it is followed where it changes by itself, and asked for again where it could not be read. */
export function useReading<Value>({ refetchMs, ...reading }: Reading<Value>): UseQueryResult<Value> {
  const query = useQuery<Value>({
    ...(reading as Parameters<typeof useQuery<Value>>[0]),
    refetchInterval: ({ state }) => {
      if (typeof refetchMs === 'number') return refetchMs;
      if (state.data !== undefined) return refetchMs?.(state.data) ?? false;
      return state.status === 'error' && askedAgainMs(state.error, state.errorUpdateCount);
    },
  });
  return useLastError(query, hashKey(reading.queryKey));
}

/** Why nothing could be read stands there until there is an answer: it would go and come with every try. */
function useLastError<Value>(query: UseQueryResult<Value>, key: string): UseQueryResult<Value> {
  const last = useRef({ key: '', error: null as Error | null });
  if (query.isError) last.current = { key, error: query.error };
  const isWithoutAnswer = query.isPending || query.isPlaceholderData;
  const isTriedAgain = isWithoutAnswer && query.errorUpdateCount > 0 && last.current.key === key;
  if (!isTriedAgain) return query;
  const failed = { status: 'error', isError: true, isPending: false, isSuccess: false, data: undefined };
  return { ...query, ...failed, error: last.current.error } as UseQueryResult<Value>;
}
