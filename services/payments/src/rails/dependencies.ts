import type { Database } from '@libs/db';
import type { Outage } from '@libs/runtime';
import type { Sealer } from '@libs/seal';
import type { Clocks } from '../clock/service.ts';
import type { PaymentsConfig } from '../config.ts';
import type { PaymentMethods } from '../payment-methods/service.ts';
import type { Quarantine } from '../quarantine/service.ts';
import type { RailLog } from './alert.ts';
import type { BankIdentity } from './bank-identity.ts';
import type { RailHealth } from './health.ts';
import type { Rail } from './rail.ts';

/** What wiring brings for all rails. */
export interface RailsDependencies {
  config: PaymentsConfig;
  /** How banks and networks know us. */
  bank: BankIdentity;
  database: Database;
  sealer: Sealer;
  now: () => Date;
  newId: (prefix: string) => string;
  log: RailLog;
  onError: (error: unknown, context: { where: string }) => void;
  outageOf: (where: string) => Outage;
  clocks: Clocks;
  paymentMethods: Pick<PaymentMethods, 'find' | 'openAccountNumber' | 'applyCorrection'>;
  quarantine: Pick<Quarantine, 'putAside'>;
}

/** What each rail's `createRail` gets. */
export interface RailDependencies extends RailsDependencies {
  health: Pick<RailHealth, 'reportFailure' | 'reportSuccess'>;
}

/** What the `rail.ts` of a rail's folder exports. */
export interface RailFolder {
  createRail(deps: RailDependencies): Promise<Rail>;
}
