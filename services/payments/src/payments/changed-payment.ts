import type { PaymentsEvent } from '../events/event.ts';
import type { Transfer } from '../ledger/transfer.ts';
import type { Payment } from './payment.ts';

/** What a change writes: the payment, and the event and the transfer that go with it. */
export interface ChangedPayment {
  payment: Payment;
  /** Also the data of the event. */
  document: string;
  event: PaymentsEvent | null;
  transfer: Transfer | null;
}
