import type { Difference, FoundDifferences, SideTotals } from '../reconciliation/reconciliation.ts';

/** What the books of every rail are read with. */

export interface TotalsRow {
  debits: number;
  debit_amount: number;
  credits: number;
  credit_amount: number;
  returns: number;
  return_amount: number;
}

export function toTotals(row: TotalsRow | undefined): SideTotals {
  return {
    debits: { count: row?.debits ?? 0, amount: row?.debit_amount ?? 0 },
    credits: { count: row?.credits ?? 0, amount: row?.credit_amount ?? 0 },
    returns: { count: row?.returns ?? 0, amount: row?.return_amount ?? 0 },
  };
}

export interface DifferenceRow {
  kind: Difference['kind'];
  reference: string | null;
  tenant_id: string | null;
  payment_id: string | null;
  ours: string | null;
  theirs: string | null;
  total: number;
}

export function toDifferences(rows: readonly DifferenceRow[]): FoundDifferences {
  const differences = rows.map(({ kind, reference, tenant_id, payment_id, ours, theirs }) => ({
    kind,
    reference,
    tenantId: tenant_id,
    paymentId: payment_id,
    ours,
    theirs,
  }));
  return { differences, count: rows[0]?.total ?? 0 };
}

/** Of rows with a direction, an amount and a state. */
export const sumsOf = (side: string) => `
  select count(*) filter (where direction = 'debit')::int as debits,
    coalesce(sum(amount) filter (where direction = 'debit'), 0)::bigint as debit_amount,
    count(*) filter (where direction = 'credit')::int as credits,
    coalesce(sum(amount) filter (where direction = 'credit'), 0)::bigint as credit_amount,
    count(*) filter (where state = 'returned')::int as returns,
    coalesce(sum(amount) filter (where state = 'returned'), 0)::bigint as return_amount
  from (${side}) as side`;
