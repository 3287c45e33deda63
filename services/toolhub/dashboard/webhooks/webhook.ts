import { isApiError, useReading } from '@libs/ui';
import { client } from '../api/client.ts';

export interface Attempt {
  at: string;
  status: number | null;
  error: string | null;
  duration_ms: number;
  /** How the answer to a try that failed begins. */
  response?: string;
}

export interface DeliveryDetails extends Delivery {
  request: { url: string | null; body: unknown };
}

export interface Delivery {
  id: string;
  event_id: string;
  event_type: string;
  status: 'pending' | 'delivered' | 'failed' | 'dead';
  attempts: Attempt[];
  next_attempt_at: string | null;
}

export interface DeadLetter {
  id: string;
  event_id: string;
  event_type: string;
  webhook_url: string;
  payload: unknown;
  attempts: Attempt[];
  failed_at: string;
  expires_at: string;
}

export interface Webhook {
  webhook_url: string;
  events: string[];
  created_at: string;
  last_delivery: Delivery | null;
}

export const CONFIG_PATH = '/api/webhooks/config';
export const DELIVERIES_PATH = '/api/webhooks/deliveries';
export const DEAD_LETTERS_PATH = '/api/webhooks/dlq';

/** Null where none is set up, which is no error. */
export function useWebhook() {
  return useReading({
    queryKey: [CONFIG_PATH, {}],
    queryFn: async ({ signal }): Promise<Webhook | null> => {
      try {
        return await client.get<Webhook>(CONFIG_PATH, { signal });
      } catch (error) {
        if (isApiError(error) && error.status === 404) return null;
        throw error;
      }
    },
  });
}
