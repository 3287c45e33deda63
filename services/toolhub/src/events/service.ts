import type { Queryable } from '@libs/db';
import type { NewId } from '@libs/seal';
import { insertEvent } from './store.ts';

export { deleteEventsBefore, type EventKey, findEvents, insertEvent, type RecordedEvent } from './store.ts';

/** The types a customer can subscribe to. */
export const EVENT_TYPES = [
  'whatsapp.message.received',
  'whatsapp.message.status',
  'credential.expired',
  'credential.recovered',
  'usage.threshold',
  'invoice.created',
  'tool.call.failed',
  'webhook.test',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

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

export interface EmitEventDeps {
  newId: NewId;
  now: () => Date;
  /** Without it events are stored and nobody is told. */
  deliver?: DeliverEvent;
}

export function createEmitEvent(deps: EmitEventDeps): EmitEvent {
  return async (tx, event) => {
    const id = deps.newId('evt');
    await insertEvent(tx, { ...event, id, createdAt: deps.now() });
    await deps.deliver?.(tx, { customerId: event.customerId, id, type: event.type });
    return id;
  };
}
