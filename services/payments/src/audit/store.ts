import type { Queryable } from '@libs/db';
import type { AuditEntry } from './entry.ts';

interface EntryRow {
  id: string;
  at: Date;
  organisation_id: string | null;
  user_id: string;
  action: string;
  target: string | null;
  outcome: AuditEntry['outcome'];
  ip: string | null;
  request_id: string;
}

const COLUMNS = 'id, at, organisation_id, user_id, action, target, outcome, ip, request_id';

export async function insertAuditEntry(db: Queryable, entry: AuditEntry): Promise<void> {
  await db.query(`insert into audit_entries (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, [
    entry.id,
    entry.at,
    entry.organisationId,
    entry.userId,
    entry.action,
    entry.target,
    entry.outcome,
    entry.ip,
    entry.requestId,
  ]);
}

/** Newest first; `before` is the id of the last one that was shown. */
export async function listAuditEntries(
  db: Queryable,
  query: { organisationId: string; before: string | null; limit: number },
): Promise<AuditEntry[]> {
  const { rows } = await db.query<EntryRow>(
    `select ${COLUMNS} from audit_entries
     where organisation_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
    [query.organisationId, query.before, query.limit],
  );
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    organisationId: row.organisation_id,
    userId: row.user_id,
    action: row.action,
    target: row.target,
    outcome: row.outcome,
    ip: row.ip,
    requestId: row.request_id,
  }));
}

/** At most `limit` of them; answers how many. */
export async function deleteAuditEntriesBefore(db: Queryable, at: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from audit_entries where id = any (array(select id from audit_entries where at < $1 limit $2))`,
    [at, limit],
  );
  return rowCount;
}
