import type { Queryable } from '@libs/db';
import type { DeliveryQueue, NewDelivery } from '@libs/webhooks';
import type { PaymentsEvent } from '../events/event.ts';
import { type Subscriptions, subscribersOf } from './endpoint.ts';
import { loadSubscriptions } from './store.ts';

/** From events to deliveries, for everyone who writes events. */
export function createSubscriptionService(queue: DeliveryQueue) {
  async function enqueue(
    tx: Queryable,
    events: readonly PaymentsEvent[],
    subscriptions: Subscriptions,
  ): Promise<void> {
    const rows: NewDelivery[] = events.flatMap((event) =>
      subscribersOf(subscriptions, event).map(({ endpointId }) => ({
        tenantId: event.tenantId,
        endpointId,
        eventId: event.id,
        eventType: event.type,
      })),
    );
    if (rows.length > 0) await queue.enqueue(tx, rows);
  }

  return {
    load: loadSubscriptions,
    hasSubscribers: (subscriptions: Subscriptions, event: PaymentsEvent): boolean =>
      subscribersOf(subscriptions, event).length > 0,
    enqueue,
    /** Reads who wants to hear of these events and adds the deliveries, in the caller's transaction. */
    async deliver(tx: Queryable, events: readonly PaymentsEvent[]): Promise<void> {
      const tenantIds = [...new Set(events.map((event) => event.tenantId))];
      await enqueue(tx, events, await loadSubscriptions(tx, tenantIds));
    },
  };
}

export type SubscriptionService = ReturnType<typeof createSubscriptionService>;
