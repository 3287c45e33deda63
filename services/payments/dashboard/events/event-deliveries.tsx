import { Anchor, Badge, Stack, Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import type { WebhookDelivery, WebhookEndpoint } from '../api/types.ts';
import { texts } from '../texts.ts';
import { deliveryColors, untilArrived } from '../webhooks/delivery.ts';
import { shortAddress } from '../webhooks/short-address.ts';

const ENDPOINTS_MAX = 100;
const HOVER_AND_FOCUS = { hover: true, focus: true, touch: false };

/** How an event went to each endpoint. */
export function EventDeliveries({ eventId }: { eventId: string }) {
  const endpoints = useList<WebhookEndpoint>('/v1/webhook_endpoints', { limit: ENDPOINTS_MAX });
  const all = endpoints.data?.data ?? [];
  return (
    <Stack gap={6}>
      {all.map((endpoint) => (
        <EndpointDelivery
          key={endpoint.id}
          endpoint={endpoint}
          address={shortAddress(endpoint, all)}
          eventId={eventId}
        />
      ))}
    </Stack>
  );
}

function EndpointDelivery(props: { endpoint: WebhookEndpoint; address: string; eventId: string }) {
  const { id, url } = props.endpoint;
  const path = `/v1/webhook_endpoints/${id}/deliveries`;
  const deliveries = useList<WebhookDelivery>(path, { event_id: props.eventId }, untilArrived);
  const delivery = deliveries.data?.data[0];
  if (delivery === undefined) return null;
  return (
    <div>
      <Tooltip
        label={url}
        multiline
        maw="min(32rem, 90vw)"
        style={{ overflowWrap: 'anywhere' }}
        events={HOVER_AND_FOCUS}
      >
        <Anchor component={Link} to="/webhooks/$id" params={{ id } as never} size="sm">
          <Badge color={deliveryColors[delivery.status]}>
            {texts.webhooks.deliveryStatuses[delivery.status]}
          </Badge>{' '}
          <span className="ui-id">{props.address}</span>
        </Anchor>
      </Tooltip>
    </div>
  );
}
