import { Paper, SimpleGrid, Text } from '@mantine/core';
import { texts } from '../texts.ts';
import { type RangeDays, useUsage } from './usage.ts';

const words = texts.overview;

export function Figures({ days }: { days: RangeDays }) {
  const usage = useUsage(days, 'platform').data;
  const calls = usage?.total ?? 0;
  const errors = usage?.data.reduce((sum, group) => sum + group.errors, 0) ?? 0;
  const rate = calls === 0 ? '–' : `${((errors / calls) * 100).toFixed(1)} %`;
  const figures: readonly (readonly [string, string])[] = [
    [words.calls, calls.toLocaleString()],
    [words.errorRate, rate],
    [words.activePlatforms, String(usage?.data.length ?? 0)],
  ];
  return (
    <SimpleGrid className="ui-figures" cols={{ base: 2, xs: 3 }} spacing={{ base: 'xs', sm: 'md' }}>
      {figures.map(([name, value]) => (
        <Paper key={name} className="ui-panel" p="md">
          <Text size="sm" c="dimmed">
            {name}
          </Text>
          <Text fz={{ base: 22, xs: 26 }} fw={650} className="ui-number">
            {usage === undefined ? '…' : value}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}
