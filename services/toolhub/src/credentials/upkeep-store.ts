import type { Queryable } from '@libs/db';
import type { CredentialRow } from './credential.ts';
import { CREDENTIAL_COLUMNS, type CredentialRecordRow, fromCredentialRow } from './store.ts';

// Reads across customers, for the work that nobody asked for.

/** Tokens of one platform that end before a moment and can be renewed, in the order of their ends. */
export async function listEnding(
  db: Queryable,
  page: { platform: string; before: Date; after: CredentialRow | undefined; limit: number },
): Promise<CredentialRow[]> {
  const { rows } = await db.query<CredentialRecordRow>(
    `select ${CREDENTIAL_COLUMNS} from credentials
     where status = 'connected' and refreshable and platform = $1 and expires_at <= $2
       and (expires_at, customer_id, slot) > ($3::timestamptz, $4, $5)
     order by expires_at, customer_id, slot limit $6`,
    [
      ...[page.platform, page.before, page.after?.expiresAt ?? '-infinity'],
      ...[page.after?.customerId ?? '', page.after?.slot ?? '', page.limit],
    ],
  );
  return rows.map(fromCredentialRow);
}

/** Tokens of customers that will end and of which nobody was warned: those that nothing renews, or has not renewed. */
export async function listToWarnOf(
  db: Queryable,
  query: { after: Date; before: Date; renewedAhead: readonly string[]; limit: number },
): Promise<CredentialRow[]> {
  const { rows } = await db.query<CredentialRecordRow>(
    `select ${CREDENTIAL_COLUMNS} from credentials
     where status = 'connected' and slot = '' and expires_at > $1 and expires_at <= $2
       and warned_for is distinct from expires_at and (not refreshable or platform = any($3))
     order by expires_at limit $4`,
    [query.after, query.before, query.renewedAhead, query.limit],
  );
  return rows.map(fromCredentialRow);
}

/** False when it was replaced, or somebody else was faster. */
export async function markWarned(
  tx: Queryable,
  { customerId, platform, slot, version }: CredentialRow,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update credentials set warned_for = expires_at
     where customer_id = $1 and platform = $2 and slot = $3 and version = $4 and status = 'connected'
       and warned_for is distinct from expires_at`,
    [customerId, platform, slot, version],
  );
  return rowCount === 1;
}
