import { Badge, Text } from '@mantine/core';
import { useList } from '../api/client.ts';
import type { WebhookDelivery } from '../api/types.ts';
import { texts } from '../texts.ts';
import { asTheyCome } from './delivery.ts';

const words = texts.webhooks;
const LOOKED_AT = 10;

/** How many of the latest deliveries have arrived; one that waits for its first try tells nothing yet. */
export function EndpointHealth({ endpointId }: { endpointId: string }) {
  const path = `/v1/webhook_endpoints/${endpointId}/deliveries`;
  const latest = useList<WebhookDelivery>(path, { limit: LOOKED_AT }, asTheyCome);
  const tried = (latest.data?.data ?? []).filter(({ attempts }) => attempts.length > 0);
  const arrived = tried.filter(({ status }) => status === 'delivered').length;
  if (tried.length === 0)
    return (
      <Text size="sm" c="dimmed" component="span">
        {words.nothingSent}
      </Text>
    );
  return (
    <Badge color={arrived === tried.length ? 'brand' : arrived === 0 ? 'red' : 'orange'}>
      {words.arrived(arrived, tried.length)}
    </Badge>
  );
}
