import { ActionButton, formatAmount, QueryView, toast } from '@libs/ui';
import { Alert, Button, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { client, refresh, useObject } from '../api/client.ts';
import type { PlanState } from '../overview/usage.ts';
import { texts } from '../texts.ts';
import { isCapBelow, type Plan, type PlanPreview } from './invoice.ts';

const words = texts.billing;

/** Says what the month will cost before the plan is changed, as the invoice will count it. */
export function ChangePlan({ plan, state }: { plan: Plan; state: PlanState }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        {words.choose(plan.name)}
      </Button>
      <Modal opened={opened} onClose={close} title={words.chooseQuestion(plan.name)} size="lg">
        {opened ? <Question plan={plan} state={state} onDone={close} /> : null}
      </Modal>
    </>
  );
}

function Question({ plan, state, onDone }: { plan: Plan; state: PlanState; onDone: () => void }) {
  const query = useObject<PlanPreview>('/api/plan/preview', { query: { plan: plan.id } });
  const change = async () => {
    await client.put('/api/plan', { plan: plan.id });
    await refresh('/api/plan', '/api/me');
    toast.done(words.changed);
    onDone();
  };
  return (
    <QueryView query={query}>
      {(preview) => (
        <Stack>
          <Text size="sm">{words.previewLead(preview.days_left)}</Text>
          <Table verticalSpacing={6}>
            <Table.Tbody>
              {preview.changed.lines.map(({ description, quantity, amount_cents: cents }) => (
                <Table.Tr key={description}>
                  <Table.Td>
                    {quantity === 1 ? description : `${description} (${quantity.toLocaleString()})`}
                  </Table.Td>
                  <Table.Td ta="right" className="ui-number">
                    {formatAmount(cents)}
                  </Table.Td>
                </Table.Tr>
              ))}
              <Table.Tr fw={650}>
                <Table.Td>{words.previewTotal}</Table.Td>
                <Table.Td ta="right" className="ui-number">
                  {formatAmount(preview.changed.total_cents)}
                </Table.Td>
              </Table.Tr>
              <Table.Tr>
                <Table.Td>{words.previewNow}</Table.Td>
                <Table.Td ta="right" className="ui-number">
                  {formatAmount(preview.now.total_cents)}
                </Table.Td>
              </Table.Tr>
            </Table.Tbody>
          </Table>
          <Text size="sm">
            {words.previewNext(formatAmount(preview.price_cents), plan.included_calls.toLocaleString())}
          </Text>
          {isCapBelow(state, plan) ? (
            <Alert color="yellow" role="note">
              {words.capBelowNewPrice(formatAmount(state.spend_cap_cents ?? 0))}
            </Alert>
          ) : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onDone}>
              {words.keepPlan}
            </Button>
            <ActionButton size="sm" variant="filled" onAct={change}>
              {words.choose(plan.name)}
            </ActionButton>
          </Group>
        </Stack>
      )}
    </QueryView>
  );
}
