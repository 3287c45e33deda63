import type { Attempt, Delivery } from '@libs/webhooks';
import { EVENT_TYPES, type EventType, type RecordedEvent } from '../events/event.ts';

/** Where a customer hears of events. */
export interface WebhookConfig {
  customerId: string;
  webhookUrl: string;
  /** Null for all, also those that come later. */
  events: readonly EventType[] | null;
  createdAt: Date;
}

/** A delivery that was given up after its last retry. */
export interface DeadLetter {
  id: string;
  customerId: string;
  eventId: string;
  eventType: string;
  webhookUrl: string;
  /** The body that could not be delivered; null when its event is past its time. */
  payload: unknown;
  attempts: readonly Attempt[];
  failedAt: Date;
  expiresAt: Date;
}

/** A customer with dead letters: how many, and when the last one was given up. */
export interface UnreachedCustomer {
  customerId: string;
  count: number;
  newestAt: Date;
}

/** What the list of them goes by. */
export type UnreachedPlace = Pick<UnreachedCustomer, 'customerId' | 'newestAt'>;

export interface UnreachedPage {
  after: UnreachedPlace | undefined;
  limit: number;
}

const DELIVERY_PREFIX = 'dlv_';
const DEAD_LETTER_PREFIX = 'dlq_';

/** A dead letter is its delivery in another place: their ids differ in the prefix alone. */
function deadLetterId(deliveryId: string): string {
  return DEAD_LETTER_PREFIX + deliveryId.slice(DELIVERY_PREFIX.length);
}

export function deliveryId(deadLetterId: string): string {
  return DELIVERY_PREFIX + deadLetterId.slice(DEAD_LETTER_PREFIX.length);
}

export function subscribesTo(config: Pick<WebhookConfig, 'events'>, type: EventType): boolean {
  return config.events === null || config.events.includes(type);
}

/** The body of a webhook, the same at every try: what was stored is put in as it is. */
export function webhookBody(event: RecordedEvent): string {
  return `{"type":"${event.type}","timestamp":"${event.createdAt.toISOString()}","data":${event.data}}`;
}

export function toDeadLetter(delivery: Delivery, event: RecordedEvent | undefined): DeadLetter {
  const { finishedAt, expiresAt, url } = delivery;
  if (finishedAt === null || expiresAt === null || url === null)
    throw new Error(`${delivery.id} is no dead letter`);
  return {
    id: deadLetterId(delivery.id),
    customerId: delivery.tenantId,
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    webhookUrl: url,
    payload: event === undefined ? null : JSON.parse(webhookBody(event)),
    attempts: delivery.attempts,
    failedAt: finishedAt,
    expiresAt,
  };
}

export function configToApi(config: WebhookConfig) {
  return {
    webhook_url: config.webhookUrl,
    events: [...(config.events ?? EVENT_TYPES)],
    created_at: config.createdAt.toISOString(),
  };
}

/** What a delivery can be here; `abandoned` is a word of other products. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'dead'] as const;

export function deliveryToApi(delivery: Delivery) {
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    status: delivery.status as (typeof DELIVERY_STATUSES)[number],
    attempts: [...delivery.attempts],
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
  };
}

export function deadLetterToApi(letter: DeadLetter) {
  return {
    id: letter.id,
    customer_id: letter.customerId,
    event_id: letter.eventId,
    event_type: letter.eventType,
    webhook_url: letter.webhookUrl,
    payload: letter.payload,
    attempts: [...letter.attempts],
    failed_at: letter.failedAt.toISOString(),
    expires_at: letter.expiresAt.toISOString(),
  };
}
