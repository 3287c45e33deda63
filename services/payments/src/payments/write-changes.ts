import type { Queryable } from '@libs/db';
import { writeEvents } from '../events/service.ts';
import { writeTransfers } from '../ledger/service.ts';
import type { ChangedPayment } from './changed-payment.ts';
import { updatePaymentsApart } from './spread-store.ts';
import { writeChanges } from './store.ts';

/** Writes payments that changed with their events and transfers: by one statement, where tables lie on one server. */
export async function writeChangedPayments(tx: Queryable, changed: readonly ChangedPayment[]): Promise<void> {
  if (changed.length === 0) return;
  if (!tx.isSpread) return writeChanges(tx, changed);
  await writeEvents(
    tx,
    changed.flatMap(({ event, document }) => (event === null ? [] : { ...event, data: document })),
  );
  await writeTransfers(
    tx,
    changed.flatMap(({ transfer, payment }) =>
      transfer === null
        ? []
        : {
            ...transfer,
            ...{ rail: payment.railSelected, amount: payment.amount },
            ...{ debitAccount: payment.debitAccount, creditAccount: payment.creditAccount },
          },
    ),
  );
  await updatePaymentsApart(tx, changed);
}
