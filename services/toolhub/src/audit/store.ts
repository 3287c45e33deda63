import type { Queryable } from '@libs/db';
import type { Actor, AuditEntry, Outcome } from './entry.ts';

interface Row {
  customer_id: string;
  id: string;
  at: Date;
  actor_type: string;
  actor_id: string;
  action: string;
  target: string | null;
  outcome: string;
  ip: string | null;
  request_id: string | null;
}

function fromRow(row: Row): AuditEntry {
  return {
    customerId: row.customer_id,
    id: row.id,
    at: row.at,
    actor: { type: row.actor_type as Actor['type'], id: row.actor_id },
    action: row.action,
    target: row.target,
    outcome: row.outcome as Outcome,
    ip: row.ip,
    requestId: row.request_id,
  };
}

const INSERT = `
insert into audit_entries (customer_id, id, at, actor_type, actor_id, action, target, outcome, ip, request_id)
select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
  $8::text[], $9::text[], $10::text[])
on conflict do nothing`;

/** A repeat after a lost answer changes nothing: the ids were made before the first try. */
export async function insertEntries(db: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  await db.query({ name: 'audit.insert', text: INSERT }, [
    entries.map((entry) => entry.customerId),
    entries.map((entry) => entry.id),
    entries.map((entry) => entry.at),
    entries.map((entry) => entry.actor.type),
    entries.map((entry) => entry.actor.id),
    entries.map((entry) => entry.action),
    entries.map((entry) => entry.target),
    entries.map((entry) => entry.outcome),
    entries.map((entry) => entry.ip),
    entries.map((entry) => entry.requestId),
  ]);
}

/** Newest first; `before` is the id of the last entry that was shown. */
export async function listEntries(
  db: Queryable,
  query: { customerId: string; before: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  const { rows } = await db.query<Row>(
    {
      name: 'audit.list',
      text: `select * from audit_entries where customer_id = $1 and ($2::text is null or id < $2)
             order by id desc limit $3`,
    },
    [query.customerId, query.before ?? null, query.limit],
  );
  return rows.map(fromRow);
}
