import { BarChart, evenTicks } from '@libs/ui/charts';
import { ColorSwatch, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { platformTitle } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { everyDay, type Usage } from './usage.ts';

const words = texts.overview;
const HEIGHT = 215;
const series = [
  { name: 'calls', label: words.succeeded, color: 'brand.6' },
  { name: 'errors', label: words.failed, color: 'orange.6' },
];

/** No stop for the keyboard and no word for a screen reader: the figures stand in tables. */
const silent = {
  'aria-hidden': true,
  // Room for the uppermost number, half of which stands above its line.
  barChartProps: { accessibilityLayer: false, margin: { top: 10, right: 28 } },
} as const;
const looks = {
  h: HEIGHT,
  type: 'stacked',
  series,
  valueFormatter: (value: number) => value.toLocaleString(),
  // Said to each line: the library colours the group around them, which they do not follow.
  gridProps: { stroke: 'var(--ui-line)' },
} as const;

interface Bar {
  calls: number;
  errors: number;
}

function axisOf(bars: readonly Bar[]) {
  const ticks = evenTicks(Math.max(0, ...bars.map(({ calls, errors }) => calls + errors)));
  return { ticks, domain: [0, ticks.at(-1) ?? 0] as [number, number], interval: 0 } as const;
}

/** What the two colours mean. */
function WithLegend({ children }: { children: ReactNode }) {
  return (
    <>
      {children}
      <Group gap="md" justify="center" mt={6} aria-hidden>
        {series.map(({ name, label, color }) => (
          <Group key={name} gap={6}>
            <ColorSwatch
              size={10}
              withShadow={false}
              color={`var(--mantine-color-${color.replace('.', '-')})`}
            />
            <Text size="xs" c="dimmed">
              {label}
            </Text>
          </Group>
        ))}
      </Group>
    </>
  );
}

/** `DailyTable` says the same to whoever cannot see it. */
export function DailyChart({ usage }: { usage: Usage }) {
  const data = everyDay(usage);
  return (
    <WithLegend>
      <BarChart
        data={data}
        dataKey="day"
        xAxisProps={{ interval: 'equidistantPreserveStart', minTickGap: 24 }}
        yAxisProps={{ ...axisOf(data), width: 56 }}
        {...looks}
        {...silent}
      />
    </WithLegend>
  );
}

/** Lying bars have room for the names of all platforms. */
export function PlatformChart({ usage }: { usage: Usage }) {
  const data = usage.data
    .map(({ key, calls, errors }) => ({ platform: platformTitle(key), calls: calls - errors, errors }))
    .sort((a, b) => b.calls + b.errors - a.calls - a.errors);
  return (
    <WithLegend>
      <BarChart
        data={data}
        dataKey="platform"
        orientation="vertical"
        xAxisProps={axisOf(data)}
        yAxisProps={{ width: 84, interval: 0 }}
        maxBarWidth={26}
        gridAxis="y"
        {...looks}
        {...silent}
      />
    </WithLegend>
  );
}
