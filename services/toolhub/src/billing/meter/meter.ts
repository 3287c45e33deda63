import { dayOf } from '../month.ts';
import type { AskReckoned } from '../reckoner.ts';
import { createHolder, type Holder } from './holder.ts';
import { createReserving, type LimitCheck } from './reserving.ts';
import type { CallUsage, Reservation } from './settlement.ts';
import { createSettling, type SettlingDependencies } from './settling.ts';

export interface Meter {
  readonly holder: Holder;
  /** Reserves one call of this month before it runs. At a limit of N exactly N pass, over all processes. */
  checkLimit(customerId: string): Promise<LimitCheck>;
  /** Keeps or gives back the unit of a call that is over, and counts the call. Never rejects. */
  settle(usage: CallUsage): Promise<void>;
  /** Gives back a unit of a call that never ran; it is no usage. Never rejects. */
  giveBack(reservation: Reservation): Promise<void>;
  close(): Promise<void>;
}

export interface MeterDependencies extends Omit<SettlingDependencies, 'holder'> {
  askReckoned: AskReckoned;
  leaseMs?: number;
}

export function createMeter(deps: MeterDependencies): Meter {
  const { now } = deps;
  const holder = createHolder(deps);
  const reserving = createReserving({ ...deps, holder });
  const settling = createSettling({ ...deps, holder });
  return {
    holder,
    checkLimit: (customerId) => deps.askReckoned(customerId, () => reserving.add(customerId)),
    settle: (usage) => settling.settle({ kind: 'usage', usage, day: usage.reservation?.day ?? dayOf(now()) }),
    giveBack: (reservation) => settling.settle({ kind: 'unused', reservation }),
    async close() {
      await reserving.idle();
      await settling.close();
      await holder.close();
    },
  };
}
