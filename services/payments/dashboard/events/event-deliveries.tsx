import { Badge, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import type { WebhookDelivery, WebhookEndpoint } from '../api/types.ts';
import { texts } from '../texts.ts';
import { deliveryColors, untilArrived } from '../webhooks/delivery.ts';

const ENDPOINTS_MAX = 100;

/** How an event went to each endpoint. */
export function EventDeliveries({ eventId }: { eventId: string }) {
  const endpoints = useList<WebhookEndpoint>('/v1/webhook_endpoints', { limit: ENDPOINTS_MAX });
  return (
    <Group gap={4}>
      {(endpoints.data?.data ?? []).map((endpoint) => (
        <EndpointDelivery key={endpoint.id} endpoint={endpoint} eventId={eventId} />
      ))}
    </Group>
  );
}

function EndpointDelivery({ endpoint, eventId }: { endpoint: WebhookEndpoint; eventId: string }) {
  const path = `/v1/webhook_endpoints/${endpoint.id}/deliveries`;
  const deliveries = useList<WebhookDelivery>(path, { event_id: eventId }, untilArrived);
  const delivery = deliveries.data?.data[0];
  if (delivery === undefined) return null;
  return (
    <Badge
      component={Link}
      to="/webhooks/$id"
      params={{ id: endpoint.id } as never}
      color={deliveryColors[delivery.status]}
      title={endpoint.url}
    >
      {texts.webhooks.deliveryStatuses[delivery.status]}
    </Badge>
  );
}
