import type { Queryable } from '@libs/db';
import { formatTraceparent, traceOf } from '@libs/runtime';
import type { DeliveryQueue, NewDelivery } from '@libs/webhooks';
import type { PaymentsEvent } from '../events/event.ts';
import { webhookBody } from '../events/event-json.ts';
import { type Subscriptions, subscribersOf } from './endpoint.ts';
import type { DeliveryOffers } from './offers.ts';
import { loadSubscriptions } from './store.ts';

/** A delivery with its event at hand, for the dispatcher of this process. */
type Row = NewDelivery & { event: PaymentsEvent };

/** From events to deliveries, for everyone who writes events. */
export function createSubscriptionService(queue: DeliveryQueue, offers: Pick<DeliveryOffers, 'hold'>) {
  async function enqueue(
    tx: Queryable,
    events: readonly PaymentsEvent[],
    subscriptions: Subscriptions,
  ): Promise<void> {
    const rows: Row[] = events.flatMap((event) =>
      subscribersOf(subscriptions, event).map(({ endpointId }) => ({
        tenantId: event.tenantId,
        endpointId,
        eventId: event.id,
        eventType: event.type,
        traceparent: traceparentOf(event),
        event,
      })),
    );
    if (rows.length === 0) return;
    let ids: readonly string[] = [];
    const isHeld = offers.hold(tx, () =>
      rows.map(({ event, ...row }, index) => ({
        ...row,
        id: ids[index] ?? '',
        body: webhookBody(event),
      })),
    );
    ids = await queue.enqueue(tx, rows, { notify: !isHeld });
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

function traceparentOf({ subjectId }: PaymentsEvent): string | null {
  const trace = traceOf(subjectId);
  return trace === undefined ? null : formatTraceparent(trace);
}

export type SubscriptionService = ReturnType<typeof createSubscriptionService>;
