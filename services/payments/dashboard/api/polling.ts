import type { ListOptions, Search } from '@libs/ui';

/** For what no event tells of: how often it is read again while somebody looks at it. */
export const POLL_MS = 5_000;

/** The first page of a list that grows by itself; pages further back stand still. */
export function whileFirst<Row>({ cursor }: Search): ListOptions<Row> {
  return { refetchMs: () => (cursor === undefined ? POLL_MS : false) };
}
