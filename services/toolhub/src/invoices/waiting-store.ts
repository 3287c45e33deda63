import type { Queryable } from '@libs/db';
import type { InvoiceStatus } from './states.ts';

/** The address was verified: what waited for that is due. */
export async function releaseWaitingMails(tx: Queryable, customerId: string): Promise<void> {
  await tx.query(
    `update invoices set mail_state = 'pending', mail_due_at = statement_timestamp()
     where customer_id = $1 and mail_state = 'waiting'`,
    [customerId],
  );
}

/** What waits for a verification is never mailed; what is paid already, a total of zero above all, stays so. */
export async function voidWaiting(
  tx: Queryable,
  { customerId, voidable }: { customerId: string; voidable: readonly InvoiceStatus[] },
): Promise<void> {
  await tx.query(
    `update invoices set status = case when status = any($2) then 'void' else status end, mail_state = 'canceled'
     where customer_id = $1 and mail_state = 'waiting'`,
    [customerId, voidable],
  );
}
