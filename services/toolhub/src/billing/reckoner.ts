import type { Database, Queryable } from '@libs/db';
import { dayOf } from './month.ts';
import type { CapReckoning } from './plan.ts';
import { lockReckoning, storeReckoning } from './store.ts';

export interface ReckonerDependencies {
  database: Database;
  now: () => Date;
  /** As the invoice will price the month; null where it has had one plan so far. */
  reckonMonth: (tx: Queryable, asked: { customerId: string; at: Date }) => Promise<CapReckoning | null>;
}

/** Asks, and for as long as the answer is that today is not reckoned yet (undefined), reckons it and asks again. */
export type AskReckoned = <Answer>(
  customerId: string,
  ask: () => Promise<Answer | undefined>,
) => Promise<Answer>;

/** Each further one means that the plan was changed, or a call of yesterday counted, in between. */
const ATTEMPTS_MAX = 10;

/** Reckons, once a day for a customer who needs it, what the spend cap has to pay for beside the day's calls. */
export function createReckoner({ database, now, reckonMonth }: ReckonerDependencies): AskReckoned {
  const underWay = new Map<string, Promise<void>>();

  function reckonToday(customerId: string): Promise<void> {
    return database.transaction(async (tx) => {
      if (!(await lockReckoning(tx, customerId))) return;
      const at = now();
      const reckoning = await reckonMonth(tx, { customerId, at });
      await storeReckoning(tx, { customerId, day: dayOf(at), reckoning });
    });
  }

  /** All calls that wait for one customer wait for one reckoning. */
  function reckonTogether(customerId: string): Promise<void> {
    const known = underWay.get(customerId);
    if (known !== undefined) return known;
    const started = reckonToday(customerId).finally(() => underWay.delete(customerId));
    underWay.set(customerId, started);
    return started;
  }

  return async (customerId, ask) => {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      await reckonTogether(customerId);
    }
    throw new Error('what the spend cap has to pay for changes faster than it is reckoned');
  };
}
