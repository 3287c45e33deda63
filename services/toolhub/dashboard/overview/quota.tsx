import { Day, Panel, QueryView } from '@libs/ui';
import { Button, Group, Progress, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { texts } from '../texts.ts';
import { forecastOf, type PlanState, usePlan } from './usage.ts';

const words = texts.quota;
const WARN_SHARE = 0.8;

export function QuotaPanel() {
  const plan = usePlan();
  return (
    <Panel
      title={words.title}
      actions={
        <Button component={Link} to="/billing" size="xs" variant="default">
          {words.change}
        </Button>
      }
    >
      <QueryView query={plan}>{(state) => <QuotaBar plan={state} />}</QueryView>
    </Panel>
  );
}

export function QuotaBar({ plan }: { plan: PlanState }) {
  const share = plan.limit === 0 ? 1 : plan.used / plan.limit;
  const forecast = forecastOf(plan);
  const color = share >= 1 ? 'red.7' : share >= WARN_SHARE ? 'orange.7' : 'brand.7';
  return (
    <>
      <Group justify="space-between" mb={6}>
        <Text fw={600}>{words.used(plan.used.toLocaleString(), plan.limit.toLocaleString())}</Text>
        <Text size="sm" c="dimmed" component="div">
          {words.resets} <Day day={plan.resets_at} />
        </Text>
      </Group>
      <Progress
        value={Math.min(share, 1) * 100}
        color={color}
        size="lg"
        aria-label={words.used(String(plan.used), String(plan.limit))}
      />
      <Text size="sm" mt="xs" c={forecast > plan.limit && plan.stops_at_limit ? 'red.8' : 'dimmed'}>
        {plan.used === 0 ? words.unused : words.forecast(forecast.toLocaleString())}
        {forecast > plan.limit ? ` ${plan.stops_at_limit ? words.willStop : words.overage}` : ''}
      </Text>
    </>
  );
}
