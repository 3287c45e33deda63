import type { Queryable } from '@libs/db';
import type { Invitation, Role } from './person.ts';

interface InvitationRow {
  id: string;
  organisation_id: string;
  email: string;
  role: Role;
  invited_by: string;
  created_at: Date;
  expires_at: Date;
}

const COLUMNS = 'id, organisation_id, email, role, invited_by, created_at, expires_at';

function fromRow(row: InvitationRow): Invitation {
  return {
    id: row.id,
    organisationId: row.organisation_id,
    email: row.email,
    role: row.role,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

/** One for an address: an earlier one stops to work. */
export async function replaceInvitation(
  tx: Queryable,
  invitation: Invitation & { emailKey: string },
): Promise<void> {
  await tx.query(
    `insert into invitations (${COLUMNS}, email_key) values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (organisation_id, email_key) do update set id = excluded.id, email = excluded.email,
       role = excluded.role, invited_by = excluded.invited_by, created_at = excluded.created_at,
       expires_at = excluded.expires_at, token_hash = null`,
    [
      invitation.id,
      invitation.organisationId,
      invitation.email,
      invitation.role,
      invitation.invitedBy,
      invitation.createdAt,
      invitation.expiresAt,
      invitation.emailKey,
    ],
  );
}

/** Those that work, without the one that another for the same address would replace. */
export async function countOtherInvitations(
  db: Queryable,
  { organisationId, emailKey, now }: { organisationId: string; emailKey: string; now: Date },
): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from invitations
     where organisation_id = $1 and email_key <> $2 and expires_at > $3`,
    [organisationId, emailKey, now],
  );
  return rows[0]?.count ?? 0;
}

/** Those that work, newest first; `before` is the id of the last one that was shown. */
export async function listInvitations(
  db: Queryable,
  query: { organisationId: string; before: string | null; limit: number; now: Date },
): Promise<Invitation[]> {
  const { rows } = await db.query<InvitationRow>(
    `select ${COLUMNS} from invitations
     where organisation_id = $1 and ($2::text is null or id < $2) and expires_at > $4 order by id desc limit $3`,
    [query.organisationId, query.before, query.limit, query.now],
  );
  return rows.map(fromRow);
}

/** Gives the invitation its token; undefined when it is gone meanwhile. */
export async function setToken(
  db: Queryable,
  key: { organisationId: string; id: string; tokenHash: Buffer },
): Promise<Invitation | undefined> {
  const { rows } = await db.query<InvitationRow>(
    `update invitations set token_hash = $3 where organisation_id = $1 and id = $2 returning ${COLUMNS}`,
    [key.organisationId, key.id, key.tokenHash],
  );
  return rows[0] && fromRow(rows[0]);
}

/** With its row locked: of two who accept it at once, one finds it gone. */
export async function lockInvitation(
  tx: Queryable,
  key: { tokenHash: Buffer; now: Date },
): Promise<(Invitation & { organisationName: string }) | undefined> {
  const { rows } = await tx.query<InvitationRow & { organisation_name: string }>(
    `select ${COLUMNS.split(', ').map((column) => `i.${column}`)}, o.name as organisation_name
     from invitations i join organisations o on o.id = i.organisation_id
     where i.token_hash = $1 and i.expires_at > $2 for update of i`,
    [key.tokenHash, key.now],
  );
  return rows[0] && { ...fromRow(rows[0]), organisationName: rows[0].organisation_name };
}

export async function deleteInvitation(
  tx: Queryable,
  key: { organisationId: string; id: string },
): Promise<boolean> {
  const { rowCount } = await tx.query('delete from invitations where organisation_id = $1 and id = $2', [
    key.organisationId,
    key.id,
  ]);
  return rowCount === 1;
}

export async function deleteInvitationsBefore(db: Queryable, at: Date): Promise<void> {
  await db.query('delete from invitations where expires_at < $1', [at]);
}
