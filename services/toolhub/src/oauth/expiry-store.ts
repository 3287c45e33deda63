import type { Queryable } from '@libs/db';

/** Rows that no answer depends on any more. Used refresh tokens stay until they expire, so that reuse is noticed. */
export async function deleteExpired(db: Queryable, now: Date): Promise<void> {
  for (const table of ['oauth_tokens', 'oauth_interactions', 'oauth_connects']) {
    await db.query(`delete from ${table} where expires_at < $1`, [now]);
  }
  await db.query('delete from oauth_auth_codes where expires_at < $1', [
    new Date(now.getTime() - CODE_REMEMBERED_MS),
  ]);
  await db.query(
    `delete from oauth_grants as consent where created_at < $1
       and not exists (select 1 from oauth_tokens where customer_id = consent.customer_id and grant_id = consent.id)
       and not exists (select 1 from oauth_auth_codes where customer_id = consent.customer_id and grant_id = consent.id)`,
    [new Date(now.getTime() - GRANT_WITHOUT_TOKENS_MS)],
  );
  await deleteUnusedClients(db, now);
}

/** Anybody can register one, so it stays for long only where somebody has let it in. */
const UNUSED = `kind = 'registered'
  and case when last_used_at is null then created_at < $1 else last_used_at < $2 end`;

async function deleteUnusedClients(db: Queryable, now: Date): Promise<void> {
  const before = [CLIENT_NEVER_USED_MS, CLIENT_IDLE_MS].map((ms) => new Date(now.getTime() - ms));
  if (!db.isSpread) {
    await db.query(
      `delete from oauth_clients where ${UNUSED}
         and not exists (select 1 from oauth_grants where client_id = oauth_clients.id)`,
      before,
    );
    return;
  }
  // Clients and grants lie on different servers, so those that are still wanted are looked for in between.
  const { rows: old } = await db.query<{ id: string }>(
    `select id from oauth_clients where ${UNUSED}`,
    before,
  );
  const { rows: granted } = await db.query<{ client_id: string }>(
    'select distinct client_id from oauth_grants where client_id = any($1)',
    [old.map(({ id }) => id)],
  );
  await db.query(`delete from oauth_clients where ${UNUSED} and id = any($3) and id <> all($4)`, [
    ...before,
    old.map(({ id }) => id),
    granted.map((grant) => grant.client_id),
  ]);
}

/** Longer than whoever sets up a client leaves it lying before they log in. */
const CLIENT_NEVER_USED_MS = 7 * 24 * 60 * 60_000;
const CLIENT_IDLE_MS = 90 * 24 * 60 * 60_000;
/** How long the reuse of a code is still noticed as such. */
const CODE_REMEMBERED_MS = 24 * 60 * 60_000;
/** Longer than any code waits to be redeemed. */
const GRANT_WITHOUT_TOKENS_MS = 60 * 60_000;
