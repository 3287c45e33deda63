import type { Queryable } from '@libs/db';
import type { RailMessage } from './messages.ts';

export async function findMessages(
  db: Queryable,
  key: { tenantId: string; id: string },
): Promise<RailMessage[]> {
  const { rows } = await db.query<{
    id: string;
    rail: RailMessage['rail'];
    direction: RailMessage['direction'];
    kind: RailMessage['kind'];
    content: string;
    created_at: Date;
  }>(
    `select id, rail, direction, kind, content, created_at from rail_messages
     where tenant_id = $1 and payment_id = $2 order by id`,
    [key.tenantId, key.id],
  );
  return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }));
}
