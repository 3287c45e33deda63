import { BarChart } from '@libs/ui/charts';
import { platformTitle } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { everyDay, type Usage } from './usage.ts';

const words = texts.overview;
const HEIGHT = 220;
const series = [
  { name: 'calls', label: words.succeeded, color: 'brand.6' },
  { name: 'errors', label: words.failed, color: 'orange.6' },
];

/** No stop for the keyboard and no word for a screen reader: the figures stand in the tables beside. */
const silent = { 'aria-hidden': true, barChartProps: { accessibilityLayer: false } } as const;
const looks = {
  valueFormatter: (value: number) => value.toLocaleString(),
  gridColor: 'light-dark(var(--mantine-color-gray-3), var(--mantine-color-dark-4))',
};

/** The table below says the same to whoever cannot see it. */
export function DailyChart({ usage }: { usage: Usage }) {
  return (
    <BarChart
      h={HEIGHT}
      data={everyDay(usage)}
      dataKey="day"
      series={series}
      type="stacked"
      {...looks}
      {...silent}
    />
  );
}

export function PlatformChart({ usage }: { usage: Usage }) {
  const data = usage.data.map(({ key, calls, errors }) => ({
    platform: platformTitle(key),
    calls: calls - errors,
    errors,
  }));
  return (
    <BarChart
      h={HEIGHT}
      data={data}
      dataKey="platform"
      series={series}
      type="stacked"
      {...looks}
      {...silent}
    />
  );
}
