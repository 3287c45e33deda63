import { Coded, type Column, EmptyNote, PagedTable, Panel, usePlace, When } from '@libs/ui';
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../../api/client.ts';
import type { PaymentsEvent } from '../../events/event.ts';
import { EventDeliveries } from '../../events/event-deliveries.tsx';
import { texts } from '../../texts.ts';

const words = texts.events;

const columns: readonly Column<PaymentsEvent>[] = [
  {
    header: words.type,
    render: ({ id, type }) => (
      <Anchor component={Link} to="/events/$id" params={{ id } as never} size="sm">
        <Coded code={type} />
      </Anchor>
    ),
  },
  { header: words.at, align: 'right', render: ({ timestamp }) => <When at={timestamp} /> },
  { header: texts.webhooks.deliveries, render: ({ id }) => <EventDeliveries eventId={id} /> },
];

/** What was told of the payment, and to which addresses. */
export function EventsPanel({ paymentId }: { paymentId: string }) {
  const place = usePlace();
  const query = useList<PaymentsEvent>('/v1/events', { object_id: paymentId, cursor: place.cursor });
  return (
    <Panel title={texts.payment.events} flush>
      <PagedTable
        place={place}
        label={texts.payment.events}
        columns={columns}
        query={query}
        keyOf={({ id }) => id}
        empty={<EmptyNote>{texts.payment.noEvents}</EmptyNote>}
      />
    </Panel>
  );
}
