import type { Queryable } from '@libs/db';
import type { NewEvent } from './service.ts';

export async function insertEvent(
  tx: Queryable,
  event: NewEvent & { id: string; createdAt: Date },
): Promise<void> {
  await tx.query(
    {
      name: 'events.insert',
      text: 'insert into events (customer_id, id, type, data, created_at) values ($1, $2, $3, $4, $5)',
    },
    [event.customerId, event.id, event.type, JSON.stringify(event.data), event.createdAt],
  );
}
