import type { NewId } from '@libs/seal';
import type { Invoice } from './invoice.ts';
import { CURRENCY } from './money.ts';
import type { Issuer } from './parties.ts';
import type { PricedMonth } from './prices/pricing.ts';
import type { Candidate } from './run-store.ts';
import { firstStatus } from './states.ts';

export interface IssueDependencies {
  /** Whom invoices come from today. */
  issuer: Issuer;
  newId: NewId;
}

export type BilledCustomer = Pick<Candidate, 'id' | 'name' | 'email' | 'details'>;

export function newInvoice(
  deps: IssueDependencies,
  customer: BilledCustomer,
  { lines, totalCents }: PricedMonth,
  { period, number, issuedAt }: Pick<Invoice, 'period' | 'number' | 'issuedAt'>,
): Invoice {
  const status = firstStatus(totalCents);
  return {
    customerId: customer.id,
    id: deps.newId('inv'),
    number,
    period,
    status,
    currency: CURRENCY,
    lines,
    totalCents,
    billTo: { name: customer.name, email: customer.email, ...customer.details },
    issuer: deps.issuer,
    issuedAt,
    sentAt: null,
    paidAt: status === 'paid' ? issuedAt : null,
  };
}
