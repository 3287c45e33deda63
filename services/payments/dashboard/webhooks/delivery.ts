import type { ListOptions } from '@libs/ui';
import type { WebhookDelivery } from '../api/types.ts';

const PENDING_POLL_MS = 2_000;

/** A list of deliveries is read again until what is on its way has arrived. */
export const untilArrived: ListOptions<WebhookDelivery> = {
  refetchMs: ({ data }) => (data.some(({ status }) => status === 'pending') ? PENDING_POLL_MS : false),
};

export const deliveryColors: Record<WebhookDelivery['status'], string> = {
  pending: 'blue',
  delivered: 'brand',
  failed: 'red',
  abandoned: 'orange',
};
