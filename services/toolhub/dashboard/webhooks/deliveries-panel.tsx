import { type Column, type ListPage, ListView, Panel, useSearchState, When } from '@libs/ui';
import { Badge, Text } from '@mantine/core';
import { useObject } from '../api/client.ts';
import { texts } from '../texts.ts';
import { Attempts } from './attempts.tsx';
import { DELIVERIES_PATH, type Delivery } from './webhook.ts';

const words = texts.webhooks;
const REFETCH_MS = 3_000;
const colors: Record<Delivery['status'], string> = {
  pending: 'gray',
  delivered: 'teal',
  failed: 'orange',
  dead: 'red',
};

const columns: readonly Column<Delivery>[] = [
  { header: words.event, render: ({ event_type: type }) => <strong>{type}</strong> },
  {
    header: words.status,
    render: ({ status }) => <Badge color={colors[status]}>{words.statuses[status]}</Badge>,
  },
  { header: words.attempts, render: ({ attempts }) => <Attempts attempts={attempts} /> },
  { header: words.next, align: 'right', render: ({ next_attempt_at: at }) => <When at={at} /> },
];

export function DeliveriesPanel() {
  const { values } = useSearchState();
  // Tries go on while somebody looks.
  const query = useObject<ListPage<Delivery>>(DELIVERIES_PATH, {
    query: { cursor: values.cursor },
    refetchMs: REFETCH_MS,
  });
  return (
    <Panel title={words.deliveries} flush>
      <ListView
        label={words.deliveries}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Text size="sm" c="dimmed" px="lg" pb="lg">
            {words.noDeliveries}
          </Text>
        }
      />
    </Panel>
  );
}
