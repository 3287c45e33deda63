import { formatAmount, Panel } from '@libs/ui';
import { Box, Grid, Group, Progress, Stack, Text } from '@mantine/core';
import { statusColors } from '../payments/status.tsx';
import { texts } from '../texts.ts';
import type { Overview } from './overview.ts';

const words = texts.home;
const CHART_HEIGHT = 290;

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

export function Charts({ overview }: { overview: Overview }) {
  const data = overview.by_day.map((row) => ({ ...row, day: day.format(new Date(`${row.day}T00:00:00Z`)) }));
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Panel title={words.volumeByDay}>
          <Bars
            rows={data.map(({ day: label, amount }) => ({ label, amount }))}
            currency={overview.currency}
          />
        </Panel>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack gap="lg">
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
        </Stack>
      </Grid.Col>
    </Grid>
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

/** Drawn by hand: the library of charts alone is a third of what the first page may load. */
function Bars({ rows, currency }: { rows: readonly { label: string; amount: number }[]; currency: string }) {
  const highest = Math.max(1, ...rows.map(({ amount }) => amount));
  const labelEvery = Math.ceil(rows.length / LABELS_MAX);
  return (
    <Group align="flex-end" gap={4} wrap="nowrap" h={CHART_HEIGHT}>
      {rows.map(({ label, amount }, index) => (
        <Stack
          key={label}
          gap={4}
          flex={1}
          miw={0}
          h="100%"
          justify="flex-end"
          title={`${label}: ${formatAmount(amount, currency)}`}
        >
          <Box bg="brand.6" h={`${Math.max(1, (amount / highest) * 85)}%`} bdrs="sm" />
          {/* As many as a phone has room for; the others are told by their bar. */}
          <Text size="xs" ta="center" className="ui-bar-label" aria-hidden={index % labelEvery !== 0}>
            {index % labelEvery === 0 ? label : '\u00a0'}
          </Text>
        </Stack>
      ))}
    </Group>
  );
}
