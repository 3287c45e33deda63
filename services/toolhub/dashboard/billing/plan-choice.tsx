import { formatAmount } from '@libs/ui';
import { Badge, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { PlanState } from '../overview/usage.ts';
import { texts } from '../texts.ts';
import { ChangePlan } from './change-plan.tsx';
import type { Plan } from './invoice.ts';

const words = texts.billing;

export function PlanChoice({ plans, state }: { plans: readonly Plan[]; state: PlanState }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      {plans.map((plan) => (
        <Paper key={plan.id} withBorder p="md" component="section" aria-label={plan.name}>
          <Stack gap="xs" h="100%">
            <Group justify="space-between">
              <Title order={3} fz="md">
                {plan.name}
              </Title>
              {plan.id === state.plan ? <Badge>{words.current}</Badge> : null}
            </Group>
            <Text fz={24} fw={650}>
              {formatAmount(plan.price_cents)}
              <Text span size="sm" c="dimmed">
                {' '}
                {words.perMonth}
              </Text>
            </Text>
            <Text size="sm" flex={1}>
              {words.included(plan.included_calls.toLocaleString())}
              <br />
              {plan.hard_stop ? words.hardStop : words.overage(formatAmount(plan.overage_cents_per_1000))}
            </Text>
            {plan.id === state.plan ? null : <ChangePlan plan={plan} state={state} />}
          </Stack>
        </Paper>
      ))}
    </SimpleGrid>
  );
}
