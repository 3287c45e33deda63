import type { ResultRules } from '@libs/webhooks';

/** The schema of the deliveries' own tables. */
export const DELIVERY_SCHEMA = 'toolhub_webhooks';

/** A customer has one webhook, so that the customer alone names it. */
export const ENDPOINT_ID = 'webhook';

const SECOND_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;

export interface DeliveryRules extends ResultRules {
  /** For one try, from the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** How long deliveries that arrived stay in the list. */
  readonly keepDeliveredMs: number;
  /** How long a stop waits for tries that are under way; what it cuts off is tried again. */
  readonly drainMs: number;
}

/** `dead`: every retry was used up. `failed`: the webhook was removed before the event could arrive. */
export const deliveryRules: DeliveryRules = {
  retryDelaysMs: [1 * SECOND_MS, 4 * SECOND_MS, 16 * SECOND_MS],
  jitter: 0,
  honourRetryAfter: false,
  disableOnGone: false,
  statusWhenExhausted: 'dead',
  statusWhenAbandoned: 'failed',
  keepDeliveredMs: 30 * DAY_MS,
  keepUndeliveredMs: 7 * DAY_MS,
  timeoutMs: 10 * SECOND_MS,
  drainMs: 5 * SECOND_MS,
};
