import type { Queryable } from '@libs/db';
import type { KeptContent } from './message-vault.ts';
import type { Quarantined, QuarantineFilter } from './quarantine.ts';

interface QuarantineRow {
  id: string;
  rail: Quarantined['rail'];
  reason: string;
  received_at: Date;
}

function fromRow({ received_at: receivedAt, ...row }: QuarantineRow): Quarantined {
  return { ...row, receivedAt };
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

export async function findQuarantined(
  db: Queryable,
  id: string,
): Promise<(Quarantined & KeptContent) | undefined> {
  const { rows } = await db.query<QuarantineRow & { content: string | null; content_sealed: Buffer | null }>(
    'select id, rail, reason, received_at, content, content_sealed from rail_quarantine where id = $1',
    [id],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { content, content_sealed: contentSealed, ...rest } = row;
  return { ...fromRow(rest), content, contentSealed };
}
