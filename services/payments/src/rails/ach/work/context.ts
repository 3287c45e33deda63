import type { Database, Queryable } from '@libs/db';
import { sealedColumn } from '@libs/rotation';
import type { Sealer } from '@libs/seal';
import type { Clocks } from '../../../clock/service.ts';
import type { MethodCorrection, MethodKey, PaymentMethod } from '../../../payment-methods/method.ts';
import type { Payment } from '../../../payments/payment.ts';
import type { Quarantine } from '../../../quarantine/service.ts';
import type { Mode } from '../../../tenant.ts';
import type { RailLog } from '../../alert.ts';
import type { RailHealth } from '../../health.ts';
import type { IsLostForGood } from '../../lost-keys.ts';
import type { ApplyOutcomes } from '../../rail.ts';
import type { AchTransport } from '../bank/transport.ts';
import type { AchScope } from '../entries/scope.ts';
import type { AchOperator } from '../operator/operator.ts';
import type { Originator } from '../outgoing/files.ts';
import type { Pace } from '../schedule/schedule.ts';

/** What the rail's background work needs from the rest of the house. */
export interface AchContext {
  database: Database;
  now: () => Date;
  newId: (prefix: string) => string;
  log: RailLog;
  quarantine: Pick<Quarantine, 'putAside'>;
  pace: Pace;
  /** How often a debit that came back for want of money shall be presented again; the rules allow two. */
  representmentsWanted: number;
  originators: Readonly<Record<Mode, Originator | null>>;
  /** The sandbox's operator, for what developers order of it; null where the sandbox is off. */
  operator: Pick<AchOperator, 'receiveFile' | 'returnEntry' | 'notifyOfChange' | 'rejectFile'> | null;
  /** Null where there is no bank to send to. */
  transportFor: (scope: AchScope) => AchTransport | null;
  health: Pick<RailHealth, 'reportFailure' | 'reportSuccess'>;
  sealer: Pick<Sealer, 'seal' | 'openText'>;
  lockPayments: (tx: Queryable, keys: readonly { tenantId: string; id: string }[]) => Promise<Payment[]>;
  applyOutcomes: ApplyOutcomes;
  findMethods: (db: Queryable, keys: readonly MethodKey[]) => Promise<PaymentMethod[]>;
  openAccountNumber: (method: PaymentMethod) => string;
  isLostForGood: IsLostForGood;
  applyCorrection: (
    tx: Queryable,
    key: MethodKey,
    correction: MethodCorrection,
    at: Date,
  ) => Promise<unknown>;
  clocks: Clocks;
}

/** The envelope of a file opens as that file alone. */
export function fileSealContext(id: string): string {
  return `ach_file ${id}`;
}

// Whole files, which may hold thousands of entries.
const FILES_PER_PAGE = 10;

export const sealedFiles = ['ach_files', 'ach_answers'].map((table) =>
  sealedColumn({
    table,
    column: 'content_sealed',
    key: { id: 'text' },
    rowsPerPage: FILES_PER_PAGE,
    contextOf: (row) => fileSealContext(row.id),
  }),
);
