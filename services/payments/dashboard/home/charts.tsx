import { formatAmount, Panel } from '@libs/ui';
import { Box, Grid, Group, Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { statusColors } from '../payments/status.tsx';
import { texts } from '../texts.ts';
import type { Overview } from './overview.ts';

const words = texts.home;
const CHART_HEIGHT = 290;

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

export function Charts({ overview }: { overview: Overview }) {
  const days = overview.by_day.map((row) => ({
    label: day.format(new Date(`${row.day}T00:00:00Z`)),
    amount: row.amount,
  }));
  // The bar of a single day would say what the figures have said.
  if (days.length === 1)
    return (
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <ShareOfEach overview={overview} />
      </SimpleGrid>
    );
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Panel title={words.volumeByDay}>
          {/* As high as the panels beside it, and never lower than this. */}
          <Box className="ui-chart-room" mih={CHART_HEIGHT}>
            <Bars rows={days} currency={overview.currency} />
          </Box>
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack gap="lg">
          <ShareOfEach overview={overview} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}

function ShareOfEach({ overview }: { overview: Overview }) {
  return (
    <>
      <Panel title={words.byStatus}>
        <Shares
          rows={overview.by_status.map(({ status, payments }) => ({
            label: texts.statuses[status],
            count: payments,
            color: statusColors[status],
          }))}
        />
      </Panel>
      <Panel title={words.byRail}>
        <Shares
          rows={overview.by_rail.map(({ rail, payments }) => ({
            label: texts.rails[rail],
            count: payments,
            color: 'brand',
          }))}
        />
      </Panel>
    </>
  );
}

function Shares({ rows }: { rows: readonly { label: string; count: number; color: string }[] }) {
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  if (total === 0)
    return (
      <Text size="sm" c="dimmed">
        {words.noneYet}
      </Text>
    );
  return (
    <Stack gap="xs">
      {rows
        .filter(({ count }) => count > 0)
        .map(({ label, count, color }) => (
          <div key={label}>
            <Group justify="space-between">
              <Text size="sm">{label}</Text>
              <Text size="sm" className="ui-number">
                {count.toLocaleString('en-US')}
              </Text>
            </Group>
            <Progress value={(count / total) * 100} color={color} size="sm" aria-label={label} />
          </div>
        ))}
    </Stack>
  );
}

const LABELS_MAX = 6;
/** Of the height that bars have: none, half and all of the axis. */
const TICKS = [1, 0.5, 0];

/** With three digits: half of $25M is $12.5M, which two would call $13M. */
const short = (currency: string) =>
  new Intl.NumberFormat('en-US', {
    ...{ style: 'currency', currency, notation: 'compact', maximumSignificantDigits: 3 },
  });

const ROUND = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

/** The next number that is easy to read, and so is its half. */
function axisEnd(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, 100)));
  return power * (ROUND.find((step) => step * power >= highest) ?? 10);
}

/** Drawn by hand: the library of charts alone is a third of what the first page may load. */
function Bars({ rows, currency }: { rows: readonly { label: string; amount: number }[]; currency: string }) {
  const end = axisEnd(Math.max(...rows.map(({ amount }) => amount)));
  const labelEvery = Math.ceil(rows.length / LABELS_MAX);
  const amountOf = short(currency);
  return (
    <div className="ui-chart">
      <div className="ui-chart-axis" aria-hidden>
        {TICKS.map((share) => (
          <span key={share}>{amountOf.format((end * share) / 100)}</span>
        ))}
      </div>
      <Group className="ui-chart-bars" align="flex-end" gap={4} wrap="nowrap">
        {rows.map(({ label, amount }, index) => (
          <div key={label} className="ui-chart-bar" title={`${label}: ${formatAmount(amount, currency)}`}>
            <div className="ui-chart-plot">
              <Box
                bg="brand.6"
                w="100%"
                h={`${(amount / end) * 100}%`}
                mih={amount === 0 ? 1 : 3}
                bdrs="sm"
              />
            </div>
            {/* As many as a phone has room for; the others are told by their bar. */}
            <Text size="xs" className="ui-bar-label" aria-hidden={index % labelEvery !== 0}>
              {index % labelEvery === 0 ? label : '\u00a0'}
            </Text>
          </div>
        ))}
      </Group>
    </div>
  );
}
