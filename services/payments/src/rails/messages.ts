import type { Queryable } from '@libs/db';
import type { Tenant } from '../tenant.ts';
import type { Rail, RailMessage } from './rail.ts';

export interface RailMessages {
  /** Of all rails. */
  readonly kinds: readonly string[];
  /** Newest first. */
  list(tenant: Tenant, paymentId: string): Promise<RailMessage[]>;
}

export interface RailMessagesDependencies {
  database: Queryable;
  rails: readonly Pick<Rail, 'messageKinds' | 'messagesOf'>[];
}

/** What went over the rails for a payment; one that was rerouted has messages of several. */
export function createRailMessages({ database, rails }: RailMessagesDependencies): RailMessages {
  return {
    kinds: rails.flatMap(({ messageKinds }) => messageKinds),
    async list(tenant, paymentId) {
      const key = { tenantId: tenant.id, id: paymentId };
      const found = await Promise.all(rails.map((rail) => rail.messagesOf(database, key)));
      return found.flat().sort(newestFirst);
    },
  };
}

/** Ids are of real time, which tells apart what happened at one moment of a clock that stands still. */
function newestFirst(a: RailMessage, b: RailMessage): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1);
}
