import type { Database } from '@libs/db';
import type { CivilDate } from '../../services/payments/src/clock/new-york.ts';
import { achBooks } from '../../services/payments/src/rails/ach/books/books.ts';
import { rtpBooks } from '../../services/payments/src/rails/rtp/books/books.ts';
import { reconcile } from '../../services/payments/src/reconciliation/comparison.ts';

const rails = [
  { id: 'ach', books: achBooks },
  { id: 'rtp', books: rtpBooks },
] as const;

/** Compares the networks' books with our entries and the ledger. Answers everything that is wrong, in words. */
export async function disagreements(
  database: Database,
  { days, losses }: { days: readonly CivilDate[]; losses: ReadonlyMap<string, number> },
): Promise<string[]> {
  const wrong: string[] = [];
  const shown = new Set<string>();
  for (const day of days) {
    for (const rail of rails) {
      const report = await reconcile(database, { day, rail, mode: 'test' });
      if (JSON.stringify(report.ours) !== JSON.stringify(report.network))
        wrong.push(`${day} ${rail.id}: totals differ`);
      for (const { kind, paymentId, reference } of report.differences) {
        if (kind === 'paid_but_debit_returned' && paymentId) shown.add(paymentId);
        else wrong.push(`${day} ${rail.id}: ${kind} ${paymentId ?? reference}`);
      }
    }
  }
  for (const id of losses.keys()) if (!shown.has(id)) wrong.push(`a loss is not shown: ${id}`);
  for (const id of shown) if (!losses.has(id)) wrong.push(`a loss is shown that is none: ${id}`);
  const lost = [...losses.values()].reduce((sum, amount) => sum + amount, 0);
  return [...wrong, ...(await moneyThatDiffers(database, lost))];
}

interface Sides {
  collected: number;
  paid: number;
}

/** The operators' net positions against the ledger's, over everything: the same but for refunds and losses. */
async function moneyThatDiffers(database: Database, lost: number): Promise<string[]> {
  const one = async <Row extends object>(text: string): Promise<Row> => {
    const { rows } = await database.query<Row>(text);
    return rows[0] as Row;
  };
  const ach = await one<Sides>(
    `select coalesce(sum(amount) filter (where direction = 'debit'), 0)::bigint as collected,
       coalesce(sum(amount) filter (where direction = 'credit'), 0)::bigint as paid
     from sandbox_ach_entries where returned_at is null`,
  );
  const { paid: rtpPaid } = await one<{ paid: number }>(
    `select coalesce(sum(amount), 0)::bigint as paid from sandbox_rtp_transfers where status = 'ACTC'`,
  );
  const ledger = await one<Sides & { rtp_paid: number }>(
    `with posted as (
       select rail, debit_account, credit_account, case kind when 'post' then amount else -amount end as amount
       from ledger_transfers where kind in ('post', 'reverse')
     )
     select coalesce(sum(amount) filter (where rail = 'ach' and debit_account like 'outside%'), 0)::bigint as collected,
       coalesce(sum(amount) filter (where rail = 'ach' and credit_account like 'outside%'), 0)::bigint as paid,
       coalesce(sum(amount) filter (where rail = 'rtp'), 0)::bigint as rtp_paid from posted`,
  );
  const { refunded } = await one<{ refunded: number }>(
    `select coalesce(sum(amount), 0)::bigint as refunded from ach_entries where leg = 'refund' and state = 'settled'`,
  );
  const compared: [name: string, network: number, ours: number][] = [
    ['ACH collected', ach.collected, ledger.collected + refunded],
    ['ACH paid', ach.paid, ledger.paid + refunded + lost],
    ['RTP paid', rtpPaid, ledger.rtp_paid],
  ];
  return compared.flatMap(([name, network, ours]) =>
    network === ours ? [] : [`${name}: the network has ${network} cents, we have ${ours}`],
  );
}
