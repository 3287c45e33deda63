import { isTransaction, type Queryable } from '@libs/db';
import type { DeliveryDispatcher, OfferedDelivery } from '@libs/webhooks';

type Dispatcher = Pick<DeliveryDispatcher, 'offer'>;

/**
 * The short way from a commit to its webhooks: the process that commits deliveries hands them to its own dispatcher,
 * which sends them without a notification and without reading them back. The rows stay the truth: where the process
 * dies in between, or the commit's outcome is unknown, the next look into the queue finds them.
 */
export interface DeliveryOffers {
  /** False where nobody here would send them after the commit: then the queue has to announce them. */
  hold(tx: Queryable, deliveries: () => readonly OfferedDelivery[]): boolean;
  /** From now on offers go to this dispatcher; with null they are no longer held. */
  to(dispatcher: Dispatcher | null): void;
}

export function createDeliveryOffers(): DeliveryOffers {
  let receiver: Dispatcher | null = null;

  return {
    hold(tx, deliveries) {
      const dispatcher = receiver;
      if (dispatcher === null || !isTransaction(tx)) return false;
      tx.afterCommit(() => dispatcher.offer(deliveries()));
      return true;
    },

    to(dispatcher) {
      receiver = dispatcher;
    },
  };
}
