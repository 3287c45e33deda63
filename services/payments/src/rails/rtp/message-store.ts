import type { Queryable } from '@libs/db';
import type { Mode } from '../../tenant.ts';
import type { MessageKind } from './messages/envelope.ts';
import type { NetworkDate } from './network-time.ts';

export interface RailMessage {
  tenantId: string;
  id: string;
  paymentId: string;
  direction: 'out' | 'in';
  kind: MessageKind;
  content: string;
  createdAt: Date;
}

export async function insertMessages(tx: Queryable, messages: readonly RailMessage[]): Promise<void> {
  if (messages.length === 0) return;
  await tx.query(
    {
      name: 'rtp.keep_messages',
      text: `insert into rail_messages (tenant_id, id, payment_id, rail, direction, kind, content, created_at)
        select tenant_id, id, payment_id, 'rtp', direction, kind, content, created_at
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
          as new (tenant_id, id, payment_id, direction, kind, content, created_at)`,
    },
    [
      messages.map((message) => message.tenantId),
      messages.map((message) => message.id),
      messages.map((message) => message.paymentId),
      messages.map((message) => message.direction),
      messages.map((message) => message.kind),
      messages.map((message) => message.content),
      messages.map((message) => message.createdAt),
    ],
  );
}

export interface MessageKey {
  tenantId: string;
  paymentId: string;
  id: string;
}

/** The text of stored messages by their id. */
export async function findContents(db: Queryable, keys: readonly MessageKey[]): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; content: string }>(
    {
      name: 'rtp.contents',
      text: `select m.id, m.content from unnest($1::text[], $2::text[], $3::text[]) as wanted (tenant_id, payment_id, id)
        join rail_messages m using (tenant_id, payment_id, id)`,
    },
    [keys.map((key) => key.tenantId), keys.map((key) => key.paymentId), keys.map((key) => key.id)],
  );
  return new Map(rows.map((row) => [row.id, row.content]));
}

/** The reports that were received before about these payments. */
export async function findReports(
  db: Queryable,
  payments: readonly Omit<MessageKey, 'id'>[],
): Promise<string[]> {
  if (payments.length === 0) return [];
  const { rows } = await db.query<{ content: string }>(
    {
      name: 'rtp.reports',
      text: `select m.content from rail_messages m
        where (m.tenant_id, m.payment_id) in (select * from unnest($1::text[], $2::text[])) and m.kind = 'pacs.002'`,
    },
    [payments.map((payment) => payment.tenantId), payments.map((payment) => payment.paymentId)],
  );
  return rows.map((row) => row.content);
}

export interface Quarantined {
  id: string;
  content: string;
  reason: string;
  receivedAt: Date;
}

export async function insertQuarantined(tx: Queryable, entries: readonly Quarantined[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(
    {
      name: 'rtp.quarantine',
      text: `insert into rail_quarantine (id, rail, content, reason, received_at)
        select id, 'rtp', content, reason, received_at
        from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) as new (id, content, reason, received_at)`,
    },
    [
      entries.map((entry) => entry.id),
      entries.map((entry) => entry.content),
      entries.map((entry) => entry.reason),
      entries.map((entry) => entry.receivedAt),
    ],
  );
}

export interface DayTotal {
  day: NetworkDate;
  count: number;
  amountCents: number;
}

export interface TotalsQuery {
  mode: Mode;
  from: NetworkDate;
  to: NetworkDate;
}

/** What the network accepted of our transfers, by settlement date: our side of the reconciliation. */
export async function acceptedByDay(db: Queryable, query: TotalsQuery): Promise<DayTotal[]> {
  const { rows } = await db.query<{ day: string; count: number; amount: number }>(
    `select settlement_date as day, count(*)::int as count, sum(amount)::bigint as amount from rtp_submissions
     where settlement_date between $2 and $3 and tenant_id like '%.' || $1::text and state = 'accepted'
     group by settlement_date order by settlement_date`,
    [query.mode, query.from, query.to],
  );
  return rows.map((row) => ({ day: row.day, count: row.count, amountCents: row.amount }));
}

export interface AcceptedTransfer {
  instructionId: string;
  amountCents: number;
}

/** The accepted transfers of one day in the order of their instructions, to find out where totals differ. */
export async function acceptedOn(
  db: Queryable,
  query: { mode: Mode; day: NetworkDate; afterInstructionId: string; limit: number },
): Promise<(AcceptedTransfer & { tenantId: string; paymentId: string })[]> {
  const { rows } = await db.query<{
    instruction_id: string;
    amount: number;
    tenant_id: string;
    payment_id: string;
  }>(
    `select instruction_id, amount, tenant_id, payment_id from rtp_submissions
     where settlement_date = $2 and tenant_id like '%.' || $1::text and state = 'accepted' and instruction_id > $3
     order by instruction_id limit $4`,
    [query.mode, query.day, query.afterInstructionId, query.limit],
  );
  return rows.map((row) => ({
    instructionId: row.instruction_id,
    amountCents: row.amount,
    tenantId: row.tenant_id,
    paymentId: row.payment_id,
  }));
}
