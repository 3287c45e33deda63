import type { WebhookDelivery } from '../api/types.ts';

export const deliveryColors: Record<WebhookDelivery['status'], string> = {
  pending: 'blue',
  delivered: 'brand',
  failed: 'red',
  abandoned: 'orange',
};
