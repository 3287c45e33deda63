import type { ResultRules } from '@libs/webhooks';

/** The schema of the deliveries' own tables. */
export const DELIVERY_SCHEMA = 'payments_webhooks';
export const ENDPOINTS_MAX = 50;
export const SECRETS_MAX = 10;
export const ROTATION_OVERLAP_MS = 24 * 60 * 60 * 1_000;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export interface DeliveryRules extends ResultRules {
  /** For one try, from the look-up of the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** An endpoint that has only failed for this long is switched off. */
  readonly disableAfterMs: number;
  /** How long deliveries that arrived stay in the lists. */
  readonly keepDeliveredMs: number;
  /** How long a stop waits for tries that are under way; what it cuts off is tried again. */
  readonly drainMs: number;
}

export const deliveryRules: DeliveryRules = {
  retryDelaysMs: [
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
  ],
  jitter: 0.1,
  honourRetryAfter: true,
  disableOnGone: true,
  statusWhenExhausted: 'failed',
  statusWhenAbandoned: 'abandoned',
  keepDeliveredMs: 30 * DAY_MS,
  keepUndeliveredMs: 90 * DAY_MS,
  timeoutMs: 15 * SECOND_MS,
  disableAfterMs: 5 * DAY_MS,
  drainMs: 10 * SECOND_MS,
};
