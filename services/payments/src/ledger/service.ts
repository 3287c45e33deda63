import type { Database, Queryable } from '@libs/db';
import { newId } from '@libs/seal';
import type { Tenant } from '../tenant.ts';
import type { Balance, BalanceKey } from './balance.ts';
import { type EntryFilter, listEntries } from './report-store.ts';
import { changeBalances, insertTransfers, lockBalances, openBalance } from './store.ts';
import { isBehind, listAccounts, lockSumsPlace, sumFees, sumNext } from './sums-store.ts';
import { balanceChanges, FEE_REVENUE, FEES_OWED, OWED_PREFIX, type Transfer } from './transfer.ts';

/** Keeps others from changing these balances until the caller's transaction ends. */
export function lockForChange(tx: Queryable, keys: readonly BalanceKey[]): Promise<Balance[]> {
  return lockBalances(tx, keys);
}

/** A balance of zero for a method that holds money here. */
export function openLedgerBalance(tx: Queryable, key: BalanceKey & { currency: string }): Promise<void> {
  return openBalance(tx, key);
}

/** Transfers alone: the caller changes the balances itself, in the same transaction. */
export function writeTransfers(tx: Queryable, transfers: readonly Transfer[]): Promise<void> {
  return insertTransfers(tx, transfers);
}

/** What transfers that are written elsewhere change in balances. */
export async function recordBalanceChanges(tx: Queryable, transfers: readonly Transfer[]): Promise<void> {
  await changeBalances(tx, balanceChanges(transfers));
}

/**
 * Writes transfers and what they change in balances, in the caller's transaction. Who writes the rows together with
 * others brings its own `insert`, which then runs while the balances are locked.
 */
export async function recordTransfers(
  tx: Queryable,
  transfers: readonly Transfer[],
  insert: () => Promise<void> = () => insertTransfers(tx, transfers),
): Promise<void> {
  const changes = balanceChanges(transfers);
  await lockBalances(tx, changes);
  await insert();
  await changeBalances(tx, changes);
}

export async function accountsOf(
  database: Database,
  tenant: Tenant,
  { now, ...page }: { afterId: string | null; limit: number; now: Date },
) {
  await keepSums(database, tenant, { now });
  const rows = await listAccounts(database, tenant.id, page);
  return rows.map((row) => ({
    id: row.id,
    object: 'ledger_account' as const,
    type: accountType(row),
    payment_method_id: row.payment_method_id,
    currency: row.currency,
    posted: row.posted,
    pending: row.pending,
    available: row.available,
    owed: row.owed,
  }));
}

function accountType({ id, payment_method_id }: { id: string; payment_method_id: string | null }) {
  if (id === FEES_OWED || id === FEE_REVENUE) return id;
  if (id.startsWith(OWED_PREFIX)) return 'owed' as const;
  return payment_method_id === null ? ('outside' as const) : ('balance' as const);
}

/**
 * Ids ascend with the time at which they were made, and transactions end within a minute or so: what is older than this
 * is there or never will be.
 */
const SETTLED_MS = 10 * 60_000;
/** So many transfers are added up at each question before the sums are brought up to date. */
const ADDED_UP_MAX = 1_000;
const TRANSFERS_PER_TURN = 100_000;
const TURNS_MAX = 1_000;

/** Takes what is surely settled into the kept sums, where it has become much; the first time that may take seconds. */
export async function keepSums(
  database: Database,
  { id }: Tenant,
  { now, atLeast = ADDED_UP_MAX }: { now: Date; atLeast?: number },
): Promise<void> {
  const boundary = newId('lt', now.getTime() - SETTLED_MS, (bytes) => Buffer.alloc(bytes));
  if (!(await isBehind(database, id, { boundary, atLeast }))) return;
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const seen = await database.transaction(
      async (tx) => {
        const place = await lockSumsPlace(tx, id);
        return place === undefined ? 0 : sumNext(tx, id, { place, boundary, limit: TRANSFERS_PER_TURN });
      },
      { report: true },
    );
    if (seen < TRANSFERS_PER_TURN) return;
  }
}

/** What the payments that completed in a month cost, by the organisation's calendar in UTC. */
export async function feesOf(
  database: Database,
  tenant: Tenant,
  { month, now }: { month: string; now: Date },
) {
  await keepSums(database, tenant, { now });
  const from = new Date(`${month}-01T00:00:00.000Z`);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
  const byRail = await database.transaction((tx) => sumFees(tx, tenant.id, { from, to }), {
    readOnly: true,
    report: true,
  });
  return {
    object: 'fees' as const,
    month,
    currency: 'USD',
    total: byRail.reduce((sum, { amount }) => sum + amount, 0),
    by_rail: byRail,
  };
}

export async function entriesOf(db: Queryable, tenant: Tenant, filter: EntryFilter) {
  const rows = await listEntries(db, tenant.id, filter);
  return rows.map((row) => ({
    id: row.id,
    object: 'ledger_entry' as const,
    transaction_id: row.transaction_id,
    payment_id: row.payment_id,
    account_id: row.account_id,
    direction: row.direction,
    amount: row.amount,
    state: row.state,
    created_at: row.created_at.toISOString(),
  }));
}
