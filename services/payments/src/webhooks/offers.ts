import type { Database, Queryable } from '@libs/db';
import type { DeliveryDispatcher, OfferedDelivery } from '@libs/webhooks';

type Dispatcher = Pick<DeliveryDispatcher, 'offer'>;

/**
 * The short way from a commit to its webhooks: the process that commits deliveries hands them to its own dispatcher,
 * which sends them without a notification and without reading them back. The rows stay the truth: where the process
 * dies in between, or the commit's outcome is unknown, the next look into the queue finds them.
 */
export interface DeliveryOffers {
  /** The database, with transactions that offer what was held for them once they have committed. */
  readonly database: Database;
  /** False where nobody here would send them after the commit: then the queue has to announce them. */
  hold(tx: Queryable, deliveries: () => readonly OfferedDelivery[]): boolean;
  /** From now on offers go to this dispatcher; with null they are no longer held. */
  to(dispatcher: Dispatcher | null): void;
}

export function createDeliveryOffers(database: Database): DeliveryOffers {
  const open = new WeakMap<Queryable, (() => void)[]>();
  let receiver: Dispatcher | null = null;

  const transaction: Database['transaction'] = async (work, options) => {
    const offers: (() => void)[] = [];
    const result = await database.transaction((tx) => {
      open.set(tx, offers);
      return work(tx);
    }, options);
    for (const offer of offers) offer();
    return result;
  };

  return {
    database: { ...database, transaction },

    hold(tx, deliveries) {
      const offers = open.get(tx);
      const dispatcher = receiver;
      if (offers === undefined || dispatcher === null) return false;
      offers.push(() => dispatcher.offer(deliveries()));
      return true;
    },

    to(dispatcher) {
      receiver = dispatcher;
    },
  };
}
