import {
  type Column,
  EmptyNote,
  Facts,
  JsonBlock,
  type ListPage,
  ListView,
  Panel,
  QueryView,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Button, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useObject } from '../api/client.ts';
import { texts } from '../texts.ts';
import { Attempts } from './attempts.tsx';
import { EventName } from './event-name.tsx';
import { DELIVERIES_PATH, type Delivery, type DeliveryDetails } from './webhook.ts';

const words = texts.webhooks;
const REFETCH_MS = 3_000;
const colors: Record<Delivery['status'], string> = {
  pending: 'gray',
  delivered: 'teal',
  failed: 'orange',
  dead: 'red',
};

const columnsWith = (show: (id: string) => void): Column<Delivery>[] => [
  { header: words.event, render: ({ event_type: type }) => <EventName type={type} /> },
  {
    header: words.status,
    render: ({ status }) => <Badge color={colors[status]}>{words.statuses[status]}</Badge>,
  },
  { header: words.attempts, wide: true, render: ({ attempts }) => <Attempts attempts={attempts} /> },
  {
    header: words.next,
    align: 'right',
    has: ({ next_attempt_at: at }) => at !== null,
    render: ({ next_attempt_at: at }) => <When at={at} />,
  },
  {
    header: texts.common.actions,
    align: 'right',
    render: ({ id, event_type: type }) => (
      <Button size="xs" variant="default" onClick={() => show(id)} aria-label={`${words.show} ${type}`}>
        {words.show}
      </Button>
    ),
  },
];

export function DeliveriesPanel() {
  const { values } = useSearchState();
  const [shown, setShown] = useState<string>();
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
        columns={columnsWith(setShown)}
        keyOf={({ id }) => id}
        empty={<EmptyNote>{words.noDeliveries}</EmptyNote>}
      />
      <Modal
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={words.delivery}
        size="lg"
      >
        {shown === undefined ? null : <Details id={shown} />}
      </Modal>
    </Panel>
  );
}

function Details({ id }: { id: string }) {
  const query = useObject<DeliveryDetails>(`${DELIVERIES_PATH}/${id}`, { refetchMs: REFETCH_MS });
  return (
    <QueryView query={query}>
      {(delivery) => (
        <Stack>
          <Facts
            facts={[
              [words.event, <EventName key="event" type={delivery.event_type} />],
              [
                words.status,
                <Badge key="status" color={colors[delivery.status]}>
                  {words.statuses[delivery.status]}
                </Badge>,
              ],
              [words.address, delivery.request.url],
              [words.messageId, delivery.event_id],
            ]}
          />
          <Text fw={600}>{words.answers}</Text>
          <Attempts attempts={delivery.attempts} withZone />
          <JsonBlock value={delivery.request.body} label={words.payload} />
        </Stack>
      )}
    </QueryView>
  );
}
