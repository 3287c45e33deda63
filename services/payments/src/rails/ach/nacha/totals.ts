import { dfiOf } from '../../routing-number.ts';
import type { Entry } from './model.ts';
import { findTransactionCode } from './transaction-codes.ts';

const HASH_MODULUS = 10_000_000_000;

/** What controls say about the entries above them. */
export type Totals = {
  /** Entries and addenda. */
  entryCount: number;
  hash: number;
  debitTotal: number;
  creditTotal: number;
};

export function emptyTotals(): Totals {
  return { entryCount: 0, hash: 0, debitTotal: 0, creditTotal: 0 };
}

/** An amount whose transaction code is unknown could belong to either sum, so both become unknown. */
export function countEntry(totals: Totals, entry: Entry): void {
  totals.entryCount += 1 + entry.addenda.length;
  const dfi = entry.routingNumber === '' ? Number.NaN : Number(dfiOf(entry.routingNumber));
  totals.hash = (totals.hash + dfi) % HASH_MODULUS;
  const direction = findTransactionCode(entry.transactionCode)?.direction;
  if (direction !== 'credit') totals.debitTotal += direction ? entry.amountCents : Number.NaN;
  if (direction !== 'debit') totals.creditTotal += direction ? entry.amountCents : Number.NaN;
}

export function addTotals(sum: Totals, part: Totals): void {
  sum.entryCount += part.entryCount;
  sum.hash = (sum.hash + part.hash) % HASH_MODULUS;
  sum.debitTotal += part.debitTotal;
  sum.creditTotal += part.creditTotal;
}
