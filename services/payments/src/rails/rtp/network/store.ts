import { boolArray, int8Array, type Queryable, textArray } from '@libs/db';
import type { NetworkDate } from '../../iso20022/network-time.ts';

/** A transfer in the network's books. */
export interface BookedTransfer {
  instructionId: string;
  messageId: string;
  transactionId: string;
  endToEndId: string;
  messageCreatedAt: string;
  settlementDate: NetworkDate;
  amountCents: number;
  instructingAgent: string;
  instructedAgent: string;
  debtorAgent: string;
  creditorAgent: string;
  /** By which the same accounts are recognised. */
  accountsMark: string;
  status: 'ACTC' | 'RJCT';
  code: string | null;
  silent: boolean;
}

interface TransferRow {
  instruction_id: string;
  message_id: string;
  transaction_id: string;
  end_to_end_id: string;
  message_created_at: string;
  settlement_date: NetworkDate;
  amount: number;
  instructing_agent: string;
  instructed_agent: string;
  debtor_agent: string;
  creditor_agent: string;
  accounts_mark: string;
  status: 'ACTC' | 'RJCT';
  code: string | null;
  silent: boolean;
}

const COLUMNS = `instruction_id, message_id, transaction_id, end_to_end_id, message_created_at, settlement_date, amount,
  instructing_agent, instructed_agent, debtor_agent, creditor_agent, accounts_mark, status, code, silent`;

function fromRow(row: TransferRow): BookedTransfer {
  return {
    instructionId: row.instruction_id,
    messageId: row.message_id,
    transactionId: row.transaction_id,
    endToEndId: row.end_to_end_id,
    messageCreatedAt: row.message_created_at,
    settlementDate: row.settlement_date,
    amountCents: row.amount,
    instructingAgent: row.instructing_agent,
    instructedAgent: row.instructed_agent,
    debtorAgent: row.debtor_agent,
    creditorAgent: row.creditor_agent,
    accountsMark: row.accounts_mark,
    status: row.status,
    code: row.code,
    silent: row.silent,
  };
}

/**
 * Books transfers that were never seen before, each as a developer ordered or as the receiver's account decides.
 * Answers the instructions that were booked; a message or an instruction that is in the books already is not again.
 */
export async function bookTransfers(
  tx: Queryable,
  transfers: readonly BookedTransfer[],
  receivedAt: Date,
): Promise<Map<string, Pick<BookedTransfer, 'silent'>>> {
  const { rows } = await tx.query<{ instruction_id: string; silent: boolean }>(
    { name: 'sandbox_rtp.book', text: BOOK },
    [
      textArray(transfers.map((one) => one.instructionId)),
      textArray(transfers.map((one) => one.messageId)),
      textArray(transfers.map((one) => one.transactionId)),
      textArray(transfers.map((one) => one.endToEndId)),
      textArray(transfers.map((one) => one.messageCreatedAt)),
      transfers.map((one) => one.settlementDate),
      int8Array(transfers.map((one) => one.amountCents)),
      textArray(transfers.map((one) => one.instructingAgent)),
      textArray(transfers.map((one) => one.instructedAgent)),
      textArray(transfers.map((one) => one.debtorAgent)),
      textArray(transfers.map((one) => one.creditorAgent)),
      textArray(transfers.map((one) => one.accountsMark)),
      textArray(transfers.map((one) => one.status)),
      textArray(transfers.map((one) => one.code)),
      boolArray(transfers.map((one) => one.silent)),
      receivedAt,
    ],
  );
  return new Map(rows.map((row) => [row.instruction_id, { silent: row.silent }]));
}

const BOOK = `
insert into sandbox_rtp_transfers (${COLUMNS}, received_at)
select i.instruction_id, i.message_id, i.transaction_id, i.end_to_end_id, i.message_created_at, i.settlement_date,
  i.amount, i.instructing_agent, i.instructed_agent, i.debtor_agent, i.creditor_agent, i.accounts_mark, coalesce(o.status, i.status), case when o.status is null then i.code else o.code end,
  i.silent and o.status is null, $16
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::date[], $7::bigint[], $8::text[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::boolean[])
  as i (${COLUMNS})
left join lateral (select status, code from sandbox_rtp_orders o where o.instruction_id = i.instruction_id limit 1) as o
  on true
on conflict do nothing
returning instruction_id, silent`;

export async function findTransfers(
  db: Queryable,
  instructionIds: readonly string[],
): Promise<BookedTransfer[]> {
  const { rows } = await db.query<TransferRow>(
    {
      name: 'sandbox_rtp.find',
      text: `select ${COLUMNS} from sandbox_rtp_transfers where instruction_id = any($1)`,
    },
    [textArray(instructionIds)],
  );
  return rows.map(fromRow);
}

export async function drawAnswerSerials(tx: Queryable, count: number): Promise<number[]> {
  const { rows } = await tx.query<{ serial: number }>(
    {
      name: 'sandbox_rtp.serials',
      text: `select nextval('sandbox_rtp_serials') as serial from generate_series(1, $1::int)`,
    },
    [count],
  );
  return rows.map((row) => row.serial);
}

export interface OrderedOutcome {
  status: 'ACTC' | 'RJCT';
  code: string | null;
}

/** Changes the books, or the plan for a transfer that has not arrived yet. */
export async function orderOutcome(
  tx: Queryable,
  instructionId: string,
  { status, code }: OrderedOutcome,
): Promise<void> {
  await tx.query(
    `with ordered as (
       insert into sandbox_rtp_orders (instruction_id, status, code) values ($1, $2, $3)
       on conflict (instruction_id) do update set status = excluded.status, code = excluded.code
     )
     update sandbox_rtp_transfers set status = $2, code = $3 where instruction_id = $1`,
    [instructionId, status, code],
  );
}

/** What developers ordered for these transfers, by instruction. */
export async function findOrders(
  db: Queryable,
  instructionIds: readonly string[],
): Promise<ReadonlyMap<string, OrderedOutcome>> {
  const { rows } = await db.query<OrderedOutcome & { instruction_id: string }>(
    {
      name: 'sandbox_rtp.orders',
      text: 'select instruction_id, status, code from sandbox_rtp_orders where instruction_id = any($1)',
    },
    [textArray(instructionIds)],
  );
  return new Map(rows.map(({ instruction_id: id, status, code }) => [id, { status, code }]));
}

export interface BookTotal {
  day: NetworkDate;
  count: number;
  amountCents: number;
}

/** What the network accepted, by settlement date: its side of the reconciliation. */
export async function totalsByDay(
  db: Queryable,
  range: { from: NetworkDate; to: NetworkDate },
): Promise<BookTotal[]> {
  const { rows } = await db.query<{ day: string; count: number; amount: number }>(
    `select settlement_date as day, count(*)::int as count, sum(amount)::bigint as amount from sandbox_rtp_transfers
     where settlement_date between $1 and $2 and status = 'ACTC'
     group by settlement_date order by settlement_date`,
    [range.from, range.to],
  );
  return rows.map((row) => ({ day: row.day, count: row.count, amountCents: row.amount }));
}
