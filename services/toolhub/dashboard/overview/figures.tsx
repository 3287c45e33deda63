import { Figure } from '@libs/ui';
import { SimpleGrid } from '@mantine/core';
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
        <Figure key={name} label={name} value={usage === undefined ? '…' : value} />
      ))}
    </SimpleGrid>
  );
}
