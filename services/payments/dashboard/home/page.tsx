import { Page, Panel, QueryTable, QueryView, useSearchState } from '@libs/ui';
import { Anchor, SegmentedControl, Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useList, useObject } from '../api/client.ts';
import { mode } from '../api/mode.ts';
import type { Payment } from '../api/types.ts';
import { paymentColumns } from '../payments/columns.tsx';
import { EmptyWithoutPayments } from '../payments/empty-without-payments.tsx';
import { useSession } from '../session/session.ts';
import { texts } from '../texts.ts';
import { Attention } from './attention.tsx';
import { Figures } from './figures.tsx';
import type { Overview } from './overview.ts';
import { WalkThrough } from './walk-through.tsx';

const words = texts.home;
const OVERVIEW_POLL_MS = 30_000;
const RECENT = 5;

const Charts = lazy(async () => ({ default: (await import('./charts.tsx')).Charts }));

export function HomePage() {
  const session = useSession();
  return (
    <Page title={words.title}>
      {session.data === undefined ? null : <WalkThrough session={session.data} />}
      <OverviewView />
      <RecentPayments />
    </Page>
  );
}

function OverviewView() {
  const search = useSearchState();
  const days = Object.keys(words.ranges).find((range) => range === search.values.days) ?? '7';
  // A delivery that is given up is told by no event.
  const query = useObject<Overview>('/v1/overview', { query: { days }, refetchMs: OVERVIEW_POLL_MS });
  return (
    <>
      <SegmentedControl
        aria-label={words.range}
        w="fit-content"
        data={Object.entries(words.ranges).map(([value, label]) => ({ value, label }))}
        value={days}
        onChange={(value) => search.set({ days: value })}
      />
      <QueryView query={query}>
        {(overview) => (
          <>
            <Figures overview={overview} />
            <Attention overview={overview} />
            {overview.payments === 0 ? null : (
              <Suspense fallback={<Skeleton height={280} />}>
                <Charts overview={overview} />
              </Suspense>
            )}
          </>
        )}
      </QueryView>
    </>
  );
}

function RecentPayments() {
  const query = useList<Payment>('/v1/payments', { limit: RECENT });
  return (
    <Panel
      title={words.recent}
      flush
      actions={
        <Anchor component={Link} to="/payments" size="sm">
          {words.allPayments}
        </Anchor>
      }
    >
      <QueryTable
        label={words.recent}
        columns={paymentColumns}
        query={query}
        keyOf={({ id }) => id}
        empty={
          <EmptyWithoutPayments
            icon="payments"
            title={texts.payments.none}
            next={texts.payments.noneNext[mode]}
          />
        }
      />
    </Panel>
  );
}
