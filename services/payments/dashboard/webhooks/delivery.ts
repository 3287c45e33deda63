import type { ListOptions } from '@libs/ui';
import { POLL_MS } from '../api/polling.ts';
import type { WebhookDelivery } from '../api/types.ts';

const PENDING_POLL_MS = 2_000;
const NEXT_TRY_MS_MAX = 60_000;

/** When a delivery that is on its way is looked at again: soon, or when it is tried again. */
function nextLookMs({ next_attempt_at: next }: WebhookDelivery): number {
  const untilTryMs = next === null ? 0 : Date.parse(next) - Date.now();
  return Math.min(Math.max(untilTryMs, PENDING_POLL_MS), NEXT_TRY_MS_MAX);
}

/** A list of deliveries is read again until what is on its way has arrived. */
export const untilArrived: ListOptions<WebhookDelivery> = {
  refetchMs: ({ data }) => {
    const pending = data.filter(({ status }) => status === 'pending');
    return pending.length === 0 ? false : Math.min(...pending.map(nextLookMs));
  },
};

/** All that goes to an endpoint: new ones come by themselves. */
export const asTheyCome: ListOptions<WebhookDelivery> = {
  refetchMs: (page) => Math.min(untilArrived.refetchMs?.(page) || POLL_MS, POLL_MS),
};

export const deliveryColors: Record<WebhookDelivery['status'], string> = {
  pending: 'blue',
  delivered: 'brand',
  failed: 'red',
  abandoned: 'orange',
};
