import { CopyText, Facts, JsonBlock, Page, Panel, QueryView, When, wordsOfCode } from '@libs/ui';
import { Anchor } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useObject } from '../api/client.ts';
import { texts } from '../texts.ts';
import type { PaymentsEvent } from './event.ts';
import { EventDeliveries } from './event-deliveries.tsx';

const words = texts.events;

const pageByObject: Record<string, string> = {
  payment: '/payments/$id',
  payment_method: '/payment-methods/$id',
  webhook_endpoint: '/webhooks/$id',
};

export function EventPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useObject<PaymentsEvent>(`/v1/events/${encodeURIComponent(id)}`);
  return (
    <Page
      title={query.data === undefined ? words.id : wordsOfCode(query.data.type)}
      lead={<code className="ui-id">{query.data?.type}</code>}
    >
      <QueryView query={query}>
        {(event) => (
          <>
            <Panel title={words.facts}>
              <Facts
                facts={[
                  [words.id, <CopyText key="id" text={event.id} label={words.id} />],
                  [words.object, <ObjectLink key="object" data={event.data} />],
                  [words.at, <When key="at" at={event.timestamp} withZone />],
                  [texts.webhooks.deliveries, <EventDeliveries key="deliveries" eventId={event.id} />],
                ]}
              />
            </Panel>
            <Panel title={words.data}>
              <JsonBlock label={words.data} value={event.data} />
            </Panel>
          </>
        )}
      </QueryView>
    </Page>
  );
}

function ObjectLink({ data: { id, object = '' } }: { data: PaymentsEvent['data'] }) {
  const to = pageByObject[object];
  if (id === undefined || to === undefined) return <span className="ui-id">{id}</span>;
  return (
    <Anchor component={Link} to={to} params={{ id } as never} className="ui-id">
      {id}
    </Anchor>
  );
}
