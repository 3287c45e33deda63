import type { Queryable } from '@libs/db';
import type { MessageKind } from './messages/envelope.ts';

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
        cross join lateral (select id, content from rail_messages m where m.tenant_id = wanted.tenant_id
          and m.payment_id = wanted.payment_id and m.id = wanted.id limit 1) as m`,
    },
    [keys.map((key) => key.tenantId), keys.map((key) => key.paymentId), keys.map((key) => key.id)],
  );
  return new Map(rows.map((row) => [row.id, row.content]));
}

/** A network repeats itself a few times at most. */
const REPORTS_PER_PAYMENT_MAX = 50;

/** The reports that were received before about these payments. */
export async function findReports(
  db: Queryable,
  payments: readonly Omit<MessageKey, 'id'>[],
): Promise<string[]> {
  if (payments.length === 0) return [];
  const { rows } = await db.query<{ content: string }>(
    {
      name: 'rtp.reports',
      text: `select m.content from unnest($1::text[], $2::text[]) as wanted (tenant_id, payment_id)
        cross join lateral (select content from rail_messages m where m.tenant_id = wanted.tenant_id
          and m.payment_id = wanted.payment_id and m.kind = 'pacs.002' order by m.id desc limit $3) as m`,
    },
    [
      payments.map((payment) => payment.tenantId),
      payments.map((payment) => payment.paymentId),
      REPORTS_PER_PAYMENT_MAX,
    ],
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
