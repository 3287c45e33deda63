import type { Queryable } from '@libs/db';
import { changeBalances, insertTransfers, lockBalances } from './store.ts';
import { balanceChanges, type Transfer } from './transfer.ts';

export type { Balance, BalanceKey } from './store.ts';
export { lockBalances, openBalance } from './store.ts';

/** What transfers that are written elsewhere change in balances. */
export async function recordBalanceChanges(tx: Queryable, transfers: readonly Transfer[]): Promise<void> {
  await changeBalances(tx, balanceChanges(transfers));
}

/** Writes transfers and what they change in balances, in the caller's transaction. */
export async function recordTransfers(tx: Queryable, transfers: readonly Transfer[]): Promise<void> {
  const changes = balanceChanges(transfers);
  await lockBalances(tx, changes);
  await insertTransfers(tx, transfers);
  await changeBalances(tx, changes);
}
