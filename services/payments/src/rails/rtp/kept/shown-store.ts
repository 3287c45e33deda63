import type { Queryable } from '@libs/db';
import type { KeptContent } from '../../message-vault.ts';
import type { RailMessage } from '../../rail.ts';

/** A stored message, as far as its payment's owner may see it. */
export type ShownMessage = Omit<RailMessage, 'content'> & KeptContent;

export async function findShown(
  db: Queryable,
  key: { tenantId: string; id: string },
): Promise<ShownMessage[]> {
  const { rows } = await db.query<{
    id: string;
    rail: RailMessage['rail'];
    direction: RailMessage['direction'];
    kind: RailMessage['kind'];
    content: string | null;
    content_sealed: Buffer | null;
    packed_sealed: Buffer | null;
    created_at: Date;
  }>(
    `select id, rail, direction, kind, content, content_sealed, packed_sealed, created_at from rail_messages
     where tenant_id = $1 and payment_id = $2 and rail = 'rtp' order by id`,
    [key.tenantId, key.id],
  );
  return rows.map(
    ({ created_at: createdAt, content_sealed: contentSealed, packed_sealed: packedSealed, ...row }) => ({
      ...row,
      contentSealed,
      packedSealed,
      createdAt,
    }),
  );
}
