import type { MoneyEffect } from '../payments/states.ts';

/**
 * One double entry: `amount` is taken from the debit account and given to the credit account. A `hold` promises
 * it, a `post` makes it so, a `release` takes the promise back, a `reverse` undoes a post, a `fund` brings test money,
 * an `owe` notes what a source took back after it was paid out, a `repay` that it came back.
 */
export interface Transfer {
  tenantId: string;
  id: string;
  paymentId: string | null;
  kind: MoneyEffect | 'fund' | 'owe' | 'repay';
  rail: string | null;
  debitAccount: string;
  creditAccount: string;
  amount: number;
  /** What the organisation owes for it: posted beside it, from `fees_owed` to `fee_revenue`. */
  fee: number;
  createdAt: Date;
}

/** Accounts that stand for the world outside; every other account is the balance of that payment method, or owed. */
export const OUTSIDE_SOURCES = 'outside_sources';
export const OUTSIDE_DESTINATIONS = 'outside_destinations';

/** What the organisation owes us for completed payments, and what we earned by them. */
export const FEES_OWED = 'fees_owed';
export const FEE_REVENUE = 'fee_revenue';

export const OWED_PREFIX = 'owed_';

/** What the holder of a payment method owes: its balance is below zero by that much. */
export function owedAccount(paymentMethodId: string): string {
  return `${OWED_PREFIX}${paymentMethodId}`;
}

export function isBalanceAccount(account: string): boolean {
  return account !== OUTSIDE_SOURCES && account !== OUTSIDE_DESTINATIONS && !account.startsWith(OWED_PREFIX);
}

/** What a transfer changes in a balance. */
export interface BalanceChange {
  tenantId: string;
  paymentMethodId: string;
  posted: number;
  held: number;
  incoming: number;
  /** Only a return may take more than there is. */
  mayOwe: boolean;
}

const effects = {
  hold: { debit: { posted: 0, held: 1, incoming: 0 }, credit: { posted: 0, held: 0, incoming: 1 } },
  post: { debit: { posted: -1, held: -1, incoming: 0 }, credit: { posted: 1, held: 0, incoming: -1 } },
  release: { debit: { posted: 0, held: -1, incoming: 0 }, credit: { posted: 0, held: 0, incoming: -1 } },
  reverse: { debit: { posted: 1, held: 0, incoming: 0 }, credit: { posted: -1, held: 0, incoming: 0 } },
  owe: { debit: { posted: 0, held: 0, incoming: 0 }, credit: { posted: 0, held: 0, incoming: 0 } },
  repay: { debit: { posted: 0, held: 0, incoming: 0 }, credit: { posted: 0, held: 0, incoming: 0 } },
  fund: { debit: { posted: 0, held: 0, incoming: 0 }, credit: { posted: 1, held: 0, incoming: 0 } },
} as const;

/** The changes of many transfers, one per balance, in an order that every writer keeps, so that no two wait for each other. */
export function balanceChanges(transfers: readonly Transfer[]): BalanceChange[] {
  const changes = new Map<string, BalanceChange>();
  const add = (transfer: Transfer, side: 'debit' | 'credit') => {
    const account = side === 'debit' ? transfer.debitAccount : transfer.creditAccount;
    if (!isBalanceAccount(account)) return;
    const key = `${transfer.tenantId} ${account}`;
    const change = changes.get(key) ?? {
      tenantId: transfer.tenantId,
      paymentMethodId: account,
      posted: 0,
      held: 0,
      incoming: 0,
      mayOwe: false,
    };
    const effect = effects[transfer.kind][side];
    change.posted += effect.posted * transfer.amount;
    change.held += effect.held * transfer.amount;
    change.incoming += effect.incoming * transfer.amount;
    change.mayOwe ||= transfer.kind === 'reverse';
    changes.set(key, change);
  };
  for (const transfer of transfers) {
    add(transfer, 'debit');
    add(transfer, 'credit');
  }
  return [...changes.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change);
}
