import { Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { texts } from '../texts.ts';
import { ProblemView } from './problem-view.tsx';

const LINES = ['60%', '100%', '85%'];

export function Loading() {
  return (
    <Stack gap="sm" role="status">
      <VisuallyHidden>{texts.loading}</VisuallyHidden>
      {LINES.map((width) => (
        <Skeleton key={width} height={14} width={width} />
      ))}
    </Stack>
  );
}

/** What a query brought, or that it is on its way, or why it did not come. */
export function QueryView<Data>(props: { query: UseQueryResult<Data>; children: (data: Data) => ReactNode }) {
  const { query } = props;
  if (query.data !== undefined) return props.children(query.data);
  if (query.isError) return <ProblemView error={query.error} retry={query.refetch} />;
  return <Loading />;
}
