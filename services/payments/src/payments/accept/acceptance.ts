import type { Trace } from '@libs/runtime';
import type { PaymentsEvent } from '../../events/event.ts';
import type { Transfer } from '../../ledger/transfer.ts';
import type { Payment } from '../payment.ts';

/** Everything that accepting one payment writes. */
export interface Acceptance {
  path: string;
  key: string;
  canonicalBody: string;
  payment: Payment;
  event: PaymentsEvent;
  hold: Transfer;
  /** Who asked for it, where the caller says so. */
  trace?: Trace | undefined;
}

export const ACCEPT_STATUS = 202;

export interface Claims {
  /** Ids of the events whose keys were free: theirs are the payments that were written. */
  claimed: ReadonlySet<string>;
  /** Tenants that have changed since they were read; nothing of theirs was written. */
  stale: ReadonlySet<string>;
}

/** By tenant id. Tenants that are not named here are neither compared nor locked. */
export type Versions = ReadonlyMap<string, number>;

export function compareKeys(a: Acceptance, b: Acceptance): number {
  if (a.payment.tenantId !== b.payment.tenantId) return a.payment.tenantId < b.payment.tenantId ? -1 : 1;
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  if (a.key === b.key) return 0;
  return a.key < b.key ? -1 : 1;
}
