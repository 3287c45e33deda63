import type { Queryable } from '@libs/db';

/** The types a customer can subscribe to. */
export const EVENT_TYPES = [
  'whatsapp.message.received',
  'whatsapp.message.status',
  'slack.message.received',
  'discord.message.received',
  'telegram.message.received',
  'credential.expiring',
  'credential.expired',
  'credential.recovered',
  'usage.threshold',
  'invoice.created',
  'tool.call.failed',
  'webhook.test',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A dead letter may be replayed on its last day and die again: its event is there for that, too. */
export const EVENTS_KEPT_DAYS = 90;

export interface NewEvent {
  customerId: string;
  type: EventType;
  data: Record<string, unknown>;
}

/** Writes the event in the caller's transaction, so that it exists exactly when the change that it announces does. */
export type EmitEvent = (tx: Queryable, event: NewEvent) => Promise<string>;

/** Adds what the customer's webhook gets for an event, in the caller's transaction. */
export type DeliverEvent = (
  tx: Queryable,
  event: { customerId: string; id: string; type: EventType },
) => Promise<void>;

export interface EventKey {
  customerId: string;
  id: string;
}

export interface RecordedEvent extends EventKey {
  type: EventType;
  /** JSON, in the very bytes that were emitted. */
  data: string;
  createdAt: Date;
}
