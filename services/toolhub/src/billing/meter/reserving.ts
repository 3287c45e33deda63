import {
  type Batcher,
  createBatcherByServer,
  type Database,
  isRefusedData,
  isServerMissing,
  isTenantAway,
  type Outcome,
  outcomesOf,
} from '@libs/db';
import { dayOf, monthOf, nextMonthStart } from '../month.ts';
import { BATCH_BOUNDS } from './batch-bounds.ts';
import type { Holder } from './holder.ts';
import { reserveUnits } from './meter-store.ts';
import type { Reservation } from './settlement.ts';
import type { GrantedUnits } from './units.ts';

export type LimitCheck =
  | { kind: 'reserved'; reservation: Reservation }
  | { kind: 'limit_exceeded'; limit: number; used: number; resetsAt: Date };

export interface ReservingDependencies {
  database: Database;
  holder: Holder;
  now: () => Date;
}

const RESERVE_ATTEMPTS_MAX = 3;

/** Reserves units, for all calls that wait at once. Undefined for customers whose spend cap is to be reckoned first. */
export function createReserving(deps: ReservingDependencies): Batcher<string, LimitCheck | undefined> {
  const { database, holder, now } = deps;

  async function reserveTogether(customerIds: readonly string[]): Promise<Outcome<LimitCheck | undefined>[]> {
    const moment = now();
    const [month, day] = [monthOf(moment), dayOf(moment)];
    const wanted = countByCustomer(customerIds);
    for (let attempt = 1; attempt <= RESERVE_ATTEMPTS_MAX; attempt += 1) {
      const id = await holder.current();
      let granted: GrantedUnits[] | null;
      try {
        granted = await reserveUnits(
          database,
          id,
          [...wanted].map(([customerId, units]) => ({ customerId, month, day, units })),
        );
      } catch (error) {
        // Whether the units were taken is not known: when the lease ends they come back by themselves. The first server, where it
        // says that another one is missing, has undone it all.
        if (!isServerMissing(database, error)) holder.abandon(id);
        throw error;
      }
      if (granted !== null) return outcomesOf(handOut({ customerIds, granted, holder: id, moment }));
      holder.abandon(id);
    }
    throw new Error('the lease of this process cannot be renewed');
  }

  return createBatcherByServer(database, {
    ...{ ...BATCH_BOUNDS, run: reserveTogether, tenantOf: (customerId: string) => customerId },
    // Customers whose server is there do not answer for one whose is away.
    onFailure: (error) => (isRefusedData(error) || isTenantAway(database, error) ? 'split' : 'reject'),
  });
}

function countByCustomer(customerIds: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of customerIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** First come, first served among the calls of one customer. */
function handOut(batch: {
  customerIds: readonly string[];
  granted: readonly GrantedUnits[];
  holder: string;
  moment: Date;
}): (LimitCheck | undefined)[] {
  const { holder, moment } = batch;
  const [month, day, resetsAt] = [monthOf(moment), dayOf(moment), nextMonthStart(moment)];
  const left = new Map(batch.granted.map((grant) => [grant.customerId, { ...grant }]));
  return batch.customerIds.map((customerId) => {
    const grant = left.get(customerId);
    if (grant?.isUnreckoned) return undefined;
    if (grant !== undefined && grant.granted > 0) {
      grant.granted -= 1;
      return { kind: 'reserved', reservation: { customerId, month, day, holder } };
    }
    return { kind: 'limit_exceeded', limit: grant?.stopAt ?? 0, used: grant?.used ?? 0, resetsAt };
  });
}
