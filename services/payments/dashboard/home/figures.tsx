import { Figure, formatAmount } from '@libs/ui';
import { SimpleGrid } from '@mantine/core';
import { texts } from '../texts.ts';
import { formatDuration, type Overview } from './overview.ts';

const words = texts.home;

export function Figures({ overview }: { overview: Overview }) {
  const { success_rate: rate, settle_seconds_median: seconds } = overview;
  const figures: [string, string][] = [
    [words.volume, formatAmount(overview.volume, overview.currency)],
    [words.payments, overview.payments.toLocaleString('en-US')],
    [words.success, rate === null ? words.noneYet : `${(rate * 100).toFixed(1)} %`],
    [words.settle, seconds === null ? words.noneYet : formatDuration(seconds)],
  ];
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md">
      {figures.map(([label, value]) => (
        <Figure key={label} label={label} value={value} />
      ))}
    </SimpleGrid>
  );
}
