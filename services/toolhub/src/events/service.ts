import type { Queryable } from '@libs/db';
import type { NewId } from '@libs/seal';
import { insertEvent } from './store.ts';

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

export function createEmitEvent(deps: { newId: NewId; now: () => Date }): EmitEvent {
  return async (tx, event) => {
    const id = deps.newId('evt');
    await insertEvent(tx, { ...event, id, createdAt: deps.now() });
    return id;
  };
}
