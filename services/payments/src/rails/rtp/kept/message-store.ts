import { type Queryable, queryByTenant, tenantStatement, textArray, timestamptzArray } from '@libs/db';
import type { KeptContent } from '../../message-vault.ts';
import type { MessageKind } from '../messages/envelope.ts';

export interface NetworkMessage {
  tenantId: string;
  id: string;
  paymentId: string;
  direction: 'out' | 'in';
  kind: MessageKind;
  content: string;
  createdAt: Date;
}

/** As it lies in the table. */
export type KeptMessage = Omit<NetworkMessage, 'content'> & KeptContent;

export async function insertMessages(tx: Queryable, messages: readonly KeptMessage[]): Promise<void> {
  if (messages.length === 0) return;
  await tx.query(
    {
      name: 'rtp.keep_messages',
      text: `insert into rail_messages (tenant_id, id, payment_id, rail, direction, kind, content, packed_sealed, created_at)
        select tenant_id, id, payment_id, 'rtp', direction, kind, content, packed_sealed, created_at
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[],
            $8::timestamptz[])
          as new (tenant_id, id, payment_id, direction, kind, content, packed_sealed, created_at)`,
    },
    [
      textArray(messages.map((message) => message.tenantId)),
      textArray(messages.map((message) => message.id)),
      textArray(messages.map((message) => message.paymentId)),
      textArray(messages.map((message) => message.direction)),
      textArray(messages.map((message) => message.kind)),
      textArray(messages.map((message) => message.content)),
      messages.map((message) => message.packedSealed),
      timestamptzArray(messages.map((message) => message.createdAt)),
    ],
  );
}

export interface RtpMessageKey {
  tenantId: string;
  paymentId: string;
  id: string;
}

export type FoundContent = Pick<RtpMessageKey, 'tenantId' | 'id'> & KeptContent;

interface ContentRow {
  tenant_id: string;
  id: string;
  content: string | null;
  content_sealed: Buffer | null;
  packed_sealed: Buffer | null;
}

function fromRow(row: ContentRow): FoundContent {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    content: row.content,
    contentSealed: row.content_sealed,
    packedSealed: row.packed_sealed,
  };
}

export async function findContents(db: Queryable, keys: readonly RtpMessageKey[]): Promise<FoundContent[]> {
  const rows = await queryByTenant<ContentRow, RtpMessageKey>(db, FIND_CONTENTS, keys, (some) => [
    some.map((key) => key.tenantId),
    some.map((key) => key.paymentId),
    some.map((key) => key.id),
  ]);
  return rows.map(fromRow);
}

const FIND_CONTENTS = tenantStatement(
  'rtp.contents',
  (
    tenant,
  ) => `select m.* from unnest($1::text[], $2::text[], $3::text[]) as wanted (tenant_id, payment_id, id)
    cross join lateral (select tenant_id, id, content, content_sealed, packed_sealed from rail_messages m
      where m.tenant_id = ${tenant} and m.payment_id = wanted.payment_id and m.id = wanted.id limit 1) as m`,
);

/** A network repeats itself a few times at most. */
const REPORTS_PER_PAYMENT_MAX = 50;

export async function findReports(
  db: Queryable,
  payments: readonly Omit<RtpMessageKey, 'id'>[],
): Promise<FoundContent[]> {
  if (payments.length === 0) return [];
  const rows = await queryByTenant<ContentRow, Omit<RtpMessageKey, 'id'>>(
    db,
    FIND_REPORTS,
    payments,
    (some) => [
      some.map((payment) => payment.tenantId),
      some.map((payment) => payment.paymentId),
      REPORTS_PER_PAYMENT_MAX,
    ],
  );
  return rows.map(fromRow);
}

const FIND_REPORTS = tenantStatement(
  'rtp.reports',
  (tenant) => `select m.* from unnest($1::text[], $2::text[]) as wanted (tenant_id, payment_id)
    cross join lateral (select tenant_id, id, content, content_sealed, packed_sealed from rail_messages m
      where m.tenant_id = ${tenant} and m.payment_id = wanted.payment_id and m.kind = 'pacs.002'
      order by m.id desc limit $3) as m`,
);
