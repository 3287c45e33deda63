import { OUTSIDE_DESTINATIONS } from './ledger/transfer.ts';

/**
 * Whether what a payment had paid out came back from there, as a condition in a statement on payments of one tenant. A payment
 * is `returned` also where its source alone took the money back: its destination keeps it then, and the source owes it.
 */
export function cameBack(tenant: string, paymentId: string): string {
  return `exists (select 1 from ledger_transfers back where back.tenant_id = ${tenant} and back.payment_id = ${paymentId}
    and (back.kind = 'reverse' or (back.kind = 'repay' and back.debit_account = '${OUTSIDE_DESTINATIONS}')))`;
}
