import type { Queryable } from '@libs/db';
import type { AchEntry, SentAs } from './entry.ts';

export type EarlierSending = Pick<SentAs, 'fileId' | 'trace' | 'messageId'>;

/**
 * An entry remembers the file that it left in last. Of an earlier one its payment's owner keeps the message: where it
 * stands, since the file itself is kept and sealed.
 */
export async function keepSendings(
  tx: Queryable,
  entries: readonly AchEntry[],
  createdAt: Date,
): Promise<void> {
  const left = entries.flatMap(({ tenantId, paymentId, sentAs }) =>
    sentAs ? [{ tenantId, paymentId, ...sentAs }] : [],
  );
  if (left.length === 0) return;
  await tx.query(
    `insert into rail_messages (tenant_id, id, payment_id, rail, direction, kind, content, created_at)
     select tenant_id, id, payment_id, 'ach', 'out', 'nacha', content, $5::timestamptz
     from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as new (tenant_id, id, payment_id, content)`,
    [
      left.map((sending) => sending.tenantId),
      left.map((sending) => sending.messageId),
      left.map((sending) => sending.paymentId),
      left.map((sending) => `${sending.fileId} ${sending.trace}`),
      createdAt,
    ],
  );
}

/** The files in which entries of the payment left before they had to leave again. */
export async function findEarlierSendings(
  db: Queryable,
  key: { tenantId: string; id: string },
): Promise<EarlierSending[]> {
  const { rows } = await db.query<{ id: string; content: string }>(
    `select id, content from rail_messages
     where tenant_id = $1 and payment_id = $2 and rail = 'ach' and kind = 'nacha' order by id`,
    [key.tenantId, key.id],
  );
  return rows.map(({ id, content }) => {
    const [fileId = '', trace = ''] = content.split(' ');
    return { messageId: id, fileId, trace };
  });
}
