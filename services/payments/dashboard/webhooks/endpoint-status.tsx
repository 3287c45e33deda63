import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import type { WebhookEndpoint } from '../api/types.ts';
import { texts } from '../texts.ts';

export function EndpointStatus({ endpoint }: { endpoint: WebhookEndpoint }) {
  return (
    <Badge color={endpoint.status === 'enabled' ? 'brand' : 'red'}>
      {texts.webhooks.statuses[endpoint.status]}
    </Badge>
  );
}

export function eventsOf({ events }: WebhookEndpoint): ReactNode {
  if (events.includes('*')) return texts.webhooks.allEvents;
  return <code className="ui-id">{events.join(', ')}</code>;
}
