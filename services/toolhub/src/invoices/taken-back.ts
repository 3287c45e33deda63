import type { Queryable } from '@libs/db';
import { deleteDetails } from './details-store.ts';
import { INVOICE_STATUSES, next } from './states.ts';
import { voidWaiting } from './waiting-store.ts';

/**
 * In the transaction in which the owner of an address takes it back, before the verification releases what waits: invoices
 * of what somebody else ordered are owed by nobody, and what that one wrote on them is mailed to nobody.
 */
export async function forgetInvoicing(tx: Queryable, customerId: string): Promise<void> {
  await voidWaiting(tx, {
    customerId,
    voidable: INVOICE_STATUSES.filter((status) => next(status, 'void') === 'void'),
  });
  await deleteDetails(tx, customerId);
}
