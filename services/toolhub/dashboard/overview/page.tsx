import { Empty, Page, Panel, QueryView, useSearchState } from '@libs/ui';
import { Button, SegmentedControl, SimpleGrid, Skeleton } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { texts } from '../texts.ts';
import { Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { DailyTable } from './daily-table.tsx';
import { Figures } from './figures.tsx';
import { LatestCalls } from './latest-calls.tsx';
import { PlatformTable } from './platform-table.tsx';
import { QuotaPanel } from './quota.tsx';
import { RANGES, type RangeDays, useUsage } from './usage.ts';

const words = texts.overview;
/** What the charts take once their code is there. */
const CHART_HEIGHT = 240;

const DailyChart = lazy(async () => ({ default: (await import('./charts.tsx')).DailyChart }));
const PlatformChart = lazy(async () => ({ default: (await import('./charts.tsx')).PlatformChart }));

export function OverviewPage() {
  const search = useSearchState();
  const days = RANGES.find((range) => range === search.values.days) ?? '30';
  return (
    <Page
      title={words.title}
      actions={
        <SegmentedControl
          aria-label={words.range}
          value={days}
          onChange={(value) => search.set({ days: value })}
          data={RANGES.map((value) => ({ value, label: words.ranges[value] }))}
        />
      }
    >
      <Attention />
      <Checklist />
      <Figures days={days} />
      <QuotaPanel />
      <Charts days={days} />
      <LatestCalls />
    </Page>
  );
}

function Charts({ days }: { days: RangeDays }) {
  const byDay = useUsage(days, 'day');
  const byPlatform = useUsage(days, 'platform');
  // Here, where it outlives what is drawn of one range.
  const [isTableOpen, setTableOpen] = useState(false);
  const nothing = (
    <Empty
      icon="bolt"
      title={words.noCalls}
      next={words.noCallsNext}
      action={
        <Button component={Link} to="/assistants" variant="default">
          {texts.checklist.assistant.action}
        </Button>
      }
    />
  );
  if (byDay.data?.total === 0) return <Panel title={words.daily}>{nothing}</Panel>;
  const waiting = <Skeleton height={CHART_HEIGHT} />;
  return (
    <>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        <Panel title={words.daily}>
          <QueryView query={byDay}>
            {(usage) => (
              <>
                <Suspense fallback={waiting}>
                  <DailyChart usage={usage} />
                </Suspense>
                <DailyTable
                  usage={usage}
                  isOpen={isTableOpen}
                  onToggle={() => setTableOpen((before) => !before)}
                />
              </>
            )}
          </QueryView>
        </Panel>
        <Panel title={words.perPlatform}>
          <QueryView query={byPlatform}>
            {(usage) => (
              <Suspense fallback={waiting}>
                <PlatformChart usage={usage} />
              </Suspense>
            )}
          </QueryView>
        </Panel>
      </SimpleGrid>
      {byPlatform.data === undefined || byPlatform.data.total === 0 ? null : (
        <Panel title={words.speed} flush>
          <PlatformTable usage={byPlatform.data} />
        </Panel>
      )}
    </>
  );
}
