import type { Queryable } from '@libs/db';
import type { Member, NamedPerson, Role } from './person.ts';

interface MemberRow {
  id: string;
  email: string;
  name: string;
  role: Role;
  created_at: Date;
}

const fromRow = ({ created_at: createdAt, ...member }: MemberRow): Member => ({ ...member, createdAt });

const MEMBER = `select u.id, u.email, u.name, m.role, m.created_at
  from memberships m join users u on u.id = m.user_id where m.organisation_id = $1`;

/** By their ids, the newest first; `before` is the id of the last one that was shown. */
export async function listMembers(
  db: Queryable,
  query: { organisationId: string; before: string | null; limit: number },
): Promise<Member[]> {
  const { rows } = await db.query<MemberRow>(
    `${MEMBER} and ($2::text is null or u.id < $2) order by u.id desc limit $3`,
    [query.organisationId, query.before, query.limit],
  );
  return rows.map(fromRow);
}

/** Who somebody is, also after leaving. */
export async function findNames(db: Queryable, userIds: readonly string[]): Promise<NamedPerson[]> {
  const { rows } = await db.query<NamedPerson>('select id, name, email from users where id = any($1)', [
    userIds,
  ]);
  return rows;
}

/** Members with these roles who have proved their address. */
export async function listVerified(
  db: Queryable,
  query: { organisationId: string; roles: readonly Role[]; limit: number },
): Promise<NamedPerson[]> {
  const { rows } = await db.query<NamedPerson>(
    `select u.id, u.name, u.email from memberships m join users u on u.id = m.user_id
     where m.organisation_id = $1 and m.role = any($2) and u.email_verified_at is not null order by u.id limit $3`,
    [query.organisationId, query.roles, query.limit],
  );
  return rows;
}

/** With every owner's row locked, so that two owners cannot demote each other at the same time. */
export async function lockOwners(tx: Queryable, organisationId: string): Promise<string[]> {
  const { rows } = await tx.query<{ user_id: string }>(
    `select user_id from memberships where organisation_id = $1 and role = 'owner' order by user_id for update`,
    [organisationId],
  );
  return rows.map(({ user_id }) => user_id);
}

export async function findMember(
  db: Queryable,
  key: { organisationId: string; userId: string },
): Promise<Member | undefined> {
  const { rows } = await db.query<MemberRow>(`${MEMBER} and m.user_id = $2`, [
    key.organisationId,
    key.userId,
  ]);
  return rows[0] && fromRow(rows[0]);
}

/** Until the transaction ends nobody changes it; undefined where the person is no member. */
export async function holdRole(
  tx: Queryable,
  key: { organisationId: string; userId: string },
): Promise<Role | undefined> {
  const { rows } = await tx.query<{ role: Role }>(
    'select role from memberships where organisation_id = $1 and user_id = $2 for share',
    [key.organisationId, key.userId],
  );
  return rows[0]?.role;
}

export async function isMemberByEmail(
  db: Queryable,
  key: { organisationId: string; emailKeys: readonly string[] },
): Promise<boolean> {
  const { rowCount } = await db.query(`${MEMBER} and u.email_key = any($2)`, [
    key.organisationId,
    key.emailKeys,
  ]);
  return rowCount > 0;
}

export async function setRole(
  tx: Queryable,
  key: { organisationId: string; userId: string; role: Role },
): Promise<void> {
  await tx.query('update memberships set role = $3 where organisation_id = $1 and user_id = $2', [
    key.organisationId,
    key.userId,
    key.role,
  ]);
}

export async function deleteMembership(
  tx: Queryable,
  key: { organisationId: string; userId: string },
): Promise<void> {
  await tx.query('delete from memberships where organisation_id = $1 and user_id = $2', [
    key.organisationId,
    key.userId,
  ]);
}

export async function countOrganisationsOf(db: Queryable, userId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::int as count from memberships where user_id = $1',
    [userId],
  );
  return rows[0]?.count ?? 0;
}

/** Organisations that nobody else is in, with the epoch of their test mode, which stays until the transaction ends. */
export async function lockOwnAlone(
  tx: Queryable,
  userId: string,
): Promise<{ organisationId: string; testEpoch: number }[]> {
  const { rows } = await tx.query<{ id: string; test_epoch: number }>(
    `select o.id, o.test_epoch from memberships m join organisations o on o.id = m.organisation_id
     where m.user_id = $1 and not exists (
       select 1 from memberships other where other.organisation_id = m.organisation_id and other.user_id <> $1)
     for no key update of o`,
    [userId],
  );
  return rows.map((row) => ({ organisationId: row.id, testEpoch: row.test_epoch }));
}
