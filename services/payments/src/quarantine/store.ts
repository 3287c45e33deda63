import type { Queryable } from '@libs/db';
import type { Quarantined, QuarantineFilter } from './quarantine.ts';

/** As it lies in the table. */
export type SealedQuarantined = Quarantined & { contentSealed: Buffer };

interface QuarantineRow {
  id: string;
  rail: Quarantined['rail'];
  reason: string;
  received_at: Date;
}

function fromRow({ received_at: receivedAt, ...row }: QuarantineRow): Quarantined {
  return { ...row, receivedAt };
}

export async function insertQuarantined(tx: Queryable, items: readonly SealedQuarantined[]): Promise<void> {
  if (items.length === 0) return;
  await tx.query(
    {
      name: 'quarantine.insert',
      text: `insert into rail_quarantine (id, rail, content_sealed, reason, received_at)
        select * from unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::timestamptz[])
        on conflict do nothing`,
    },
    [
      items.map((item) => item.id),
      items.map((item) => item.rail),
      items.map((item) => item.contentSealed),
      items.map((item) => item.reason),
      items.map((item) => item.receivedAt),
    ],
  );
}

export async function listQuarantined(db: Queryable, filter: QuarantineFilter): Promise<Quarantined[]> {
  const { rows } = await db.query<QuarantineRow>(
    `select id, rail, reason, received_at from rail_quarantine
     where ($1::text is null or rail = $1)
       and ($2::timestamptz is null or (received_at, id) < ($2::timestamptz, $3::text))
     order by received_at desc, id desc limit $4`,
    [filter.rail, filter.before?.receivedAt ?? null, filter.before?.id ?? null, filter.limit],
  );
  return rows.map(fromRow);
}

export async function findQuarantined(db: Queryable, id: string): Promise<SealedQuarantined | undefined> {
  const { rows } = await db.query<QuarantineRow & { content_sealed: Buffer }>(
    'select id, rail, reason, received_at, content_sealed from rail_quarantine where id = $1',
    [id],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { content_sealed: contentSealed, ...rest } = row;
  return { ...fromRow(rest), contentSealed };
}
