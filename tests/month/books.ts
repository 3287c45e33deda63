import type { Database } from '@libs/db';
import type { CivilDate } from '../../services/payments/src/clock/new-york.ts';
import { achBooks } from '../../services/payments/src/rails/ach/books/books.ts';
import { rtpBooks } from '../../services/payments/src/rails/rtp/books/books.ts';
import { reconcile } from '../../services/payments/src/reconciliation/comparison.ts';
import type { Difference } from '../../services/payments/src/reconciliation/reconciliation.ts';

const rails = [
  { id: 'ach', books: achBooks },
  { id: 'rtp', books: rtpBooks },
] as const;

/** Money that was paid out and taken back, and how that must be shown. */
export interface Loss {
  kind: Difference['kind'];
  amount: number;
}

/** Compares the networks' books with our entries and the ledger. Answers everything that is wrong, in words. */
export async function disagreements(
  database: Database,
  { days, losses }: { days: readonly CivilDate[]; losses: ReadonlyMap<string, Loss> },
): Promise<string[]> {
  const wrong: string[] = [];
  const shown = new Set<string>();
  const eventful = await eventfulDays(database);
  for (const day of days.filter((one) => eventful.has(one))) {
    for (const rail of rails) {
      const report = await reconcile(database, { day, rail, mode: 'test' });
      if (JSON.stringify(report.ours) !== JSON.stringify(report.network))
        wrong.push(`${day} ${rail.id}: totals differ`);
      for (const { kind, paymentId, reference } of report.differences) {
        if (paymentId && losses.get(paymentId)?.kind === kind) shown.add(paymentId);
        else
          wrong.push(
            `${day} ${rail.id}: ${kind} ${paymentId ?? reference} ${await entriesOf(database, paymentId)}`,
          );
      }
    }
  }
  for (const id of losses.keys())
    if (!shown.has(id)) wrong.push(await notShown(database, id, losses.get(id)?.kind));
  const lost = [...losses.values()].reduce((sum, { amount }) => sum + amount, 0);
  return [...wrong, ...(await moneyThatDiffers(database, lost))];
}

/** The days of which either side has anything. */
async function eventfulDays(database: Database): Promise<ReadonlySet<string>> {
  const { rows } = await database.query<{ day: string }>(
    `select (as_of at time zone 'America/New_York')::date as day from ach_files
     union select day from sandbox_ach_entries
     union select settlement_date from rtp_submissions union select settlement_date from sandbox_rtp_transfers`,
  );
  return new Set(rows.map(({ day }) => day));
}

async function notShown(database: Database, id: string, kind: string | undefined): Promise<string> {
  return `a loss is not shown: ${kind} ${id} ${await entriesOf(database, id)}`;
}

/** What became of each entry of a payment, and what its bank said of the file. */
async function entriesOf(database: Database, paymentId: string | null): Promise<string> {
  const { rows } = await database.query<{ entry: string }>(
    `select concat_ws(' ', e.leg, e.state, e.return_code, f.name, f.refusal) as entry
     from ach_entries e left join ach_files f on f.id = e.file_id where e.payment_id = $1
     order by e.attempt_id, e.due_at`,
    [paymentId],
  );
  return `(${rows.map(({ entry }) => entry).join(', ')})`;
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
  const ledger = await one<Sides & { rtp_paid: number; owed: number }>(
    `with entries as (
       select rail, kind, debit_account as account, -amount as amount from ledger_transfers
       union all select rail, kind, credit_account, amount from ledger_transfers
     ), posted as (
       select rail, account, case kind when 'reverse' then -amount else amount end as amount from entries
       where kind in ('post', 'reverse', 'owe', 'repay')
     )
     select -coalesce(sum(amount) filter (where rail = 'ach' and account = 'outside_sources'), 0)::bigint as collected,
       coalesce(sum(amount) filter (where rail = 'ach' and account = 'outside_destinations'), 0)::bigint as paid,
       -coalesce(sum(amount) filter (where account like 'owed\\_%'), 0)::bigint as owed,
       coalesce(sum(amount) filter (where rail = 'rtp' and amount > 0), 0)::bigint as rtp_paid from posted`,
  );
  const { refunded } = await one<{ refunded: number }>(
    `select coalesce(sum(amount), 0)::bigint as refunded from ach_entries where leg = 'refund' and state = 'settled'`,
  );
  const compared: [name: string, network: number, ours: number][] = [
    ['ACH collected', ach.collected, ledger.collected + refunded],
    ['ACH paid', ach.paid, ledger.paid + refunded],
    ['owed', lost, ledger.owed],
    ['RTP paid', rtpPaid, ledger.rtp_paid],
  ];
  return compared.flatMap(([name, network, ours]) =>
    network === ours ? [] : [`${name}: the network has ${network} cents, we have ${ours}`],
  );
}
