import type { Queryable } from '@libs/db';
import { emailKey as emailKeyOf, emailKeys } from '@libs/login';
import type { LiveAccess } from '../keys/key.ts';
import type { MemberOf, PersonCaller, Role, User } from './person.ts';

interface UserRow {
  id: string;
  email: string;
  name: string;
  email_verified: boolean;
  operator: boolean;
  passkey_required: boolean;
  created_at: Date;
}

const USER = `users.id, users.email, users.name, users.email_verified_at is not null as email_verified,
  users.operator, users.passkey_required, users.created_at`;

function fromRow(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    emailVerified: row.email_verified,
    operator: row.operator,
    passkeyRequired: row.passkey_required,
    createdAt: row.created_at,
  };
}

/** False when the address, in any of its spellings, belongs to another account; the transaction must then not commit. */
export async function insertUser(
  tx: Queryable,
  user: User & { emailKeys: readonly string[]; passwordHash: string },
): Promise<boolean> {
  const ascii = emailKeyOf(user.email);
  const [written = ascii, ...others] = user.emailKeys;
  // Under one of the two that every other spelling is looked for by, too.
  const emailKey = emailKeys(ascii).includes(written) ? written : ascii;
  if (others.length > 0) {
    // No constraint compares two spellings: who signs up with any of them comes one after the other.
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`signup ${ascii}`]);
    if ((await findLogin(tx, user.emailKeys)) !== undefined) return false;
  }
  const { rowCount } = await tx.query(
    `insert into users (id, email, email_key, name, password_hash, created_at)
     values ($1, $2, $3, $4, $5, $6) on conflict (email_key) do nothing`,
    [user.id, user.email, emailKey, user.name, user.passwordHash, user.createdAt],
  );
  return rowCount === 1;
}

export async function findUser(db: Queryable, id: string): Promise<User | undefined> {
  const { rows } = await db.query<UserRow>(`select ${USER} from users where id = $1`, [id]);
  return rows[0] && fromRow(rows[0]);
}

export async function findLogin(
  db: Queryable,
  emailKeys: readonly string[],
): Promise<{ person: User; passwordHash: string } | undefined> {
  const { rows } = await db.query<UserRow & { password_hash: string }>(
    `select ${USER}, password_hash from users where email_key = any($1)
     order by array_position($1, email_key) limit 1`,
    [emailKeys],
  );
  return rows[0] && { person: fromRow(rows[0]), passwordHash: rows[0].password_hash };
}

export async function lockUser(tx: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('select id from users where id = $1 for no key update', [id]);
  return rowCount === 1;
}

export async function setPassword(tx: Queryable, id: string, passwordHash: string): Promise<void> {
  await tx.query('update users set password_hash = $2 where id = $1', [id, passwordHash]);
}

/** Undefined where there is nobody; the first verification is the one that counts. */
export async function markVerified(tx: Queryable, id: string, at: Date): Promise<User | undefined> {
  const { rows } = await tx.query<UserRow>(
    `update users set email_verified_at = coalesce(email_verified_at, $2) where id = $1 returning ${USER}`,
    [id, at],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function renameUser(db: Queryable, id: string, name: string): Promise<User | undefined> {
  const { rows } = await db.query<UserRow>(`update users set name = $2 where id = $1 returning ${USER}`, [
    id,
    name,
  ]);
  return rows[0] && fromRow(rows[0]);
}

export async function setPasskeyRequired(tx: Queryable, id: string, required: boolean): Promise<void> {
  await tx.query('update users set passkey_required = $2 where id = $1', [id, required]);
}

export async function setOperator(db: Queryable, id: string, operator: boolean): Promise<void> {
  await db.query('update users set operator = $2 where id = $1', [id, operator]);
}

export async function insertMembership(
  tx: Queryable,
  membership: { organisationId: string; userId: string; role: Role; createdAt: Date },
): Promise<void> {
  await tx.query(
    `insert into memberships (organisation_id, user_id, role, created_at) values ($1, $2, $3, $4)
     on conflict (organisation_id, user_id) do nothing`,
    [membership.organisationId, membership.userId, membership.role, membership.createdAt],
  );
}

/** The organisations of a person, the oldest membership first. */
export async function listOrganisationsOf(db: Queryable, userId: string, limit: number): Promise<MemberOf[]> {
  const { rows } = await db.query<{ id: string; name: string; role: Role; live_access: LiveAccess }>(
    `select o.id, o.name, m.role, o.live_access
     from memberships m join organisations o on o.id = m.organisation_id
     where m.user_id = $1 order by m.created_at, o.id limit $2`,
    [userId, limit],
  );
  return rows.map(({ live_access: liveAccess, ...rest }) => ({ ...rest, liveAccess }));
}

/** The organisation that a new session looks at: the one of the last, where the person is still in it. */
export async function findStartOrganisation(db: Queryable, userId: string): Promise<string | null> {
  const { rows } = await db.query<{ organisation_id: string }>(
    `select m.organisation_id from memberships m join users u on u.id = m.user_id where m.user_id = $1
     order by m.organisation_id = u.organisation_id desc nulls last, m.created_at, m.organisation_id limit 1`,
    [userId],
  );
  return rows[0]?.organisation_id ?? null;
}

export async function rememberOrganisation(
  tx: Queryable,
  userId: string,
  organisationId: string,
): Promise<void> {
  await tx.query('update users set organisation_id = $2 where id = $1', [userId, organisationId]);
}

interface CallerRow {
  user_id: string;
  session_id: string;
  email_verified: boolean;
  operator: boolean;
  organisation_id: string | null;
  role: Role | null;
  live_access: LiveAccess | null;
  test_epoch: number | null;
}

/**
 * One query over tables of the login library, of this feature and of the keys: it runs at every request of a page, and
 * because nothing of it is remembered, an ended session and a changed role hold for the next request in every process.
 */
export async function findCaller(
  db: Queryable,
  tokenHash: Buffer,
  now: Date,
): Promise<PersonCaller | undefined> {
  const { rows } = await db.query<CallerRow>(
    {
      name: 'people.caller',
      text: `select u.id as user_id, s.id as session_id, u.email_verified_at is not null as email_verified,
          u.operator, m.organisation_id, m.role, o.live_access, o.test_epoch
        from sessions s join users u on u.id = s.person_id
        left join memberships m on m.organisation_id = s.context and m.user_id = u.id
        left join organisations o on o.id = m.organisation_id
        where s.token_hash = $1 and s.expires_at > $2`,
    },
    [tokenHash, now],
  );
  const [row] = rows;
  return row && callerOf(row);
}

function callerOf(row: CallerRow): PersonCaller {
  const { organisation_id: organisationId, role, live_access: liveAccess, test_epoch: testEpoch } = row;
  const isMember = organisationId !== null && role !== null && liveAccess !== null && testEpoch !== null;
  return {
    userId: row.user_id,
    sessionId: row.session_id,
    emailVerified: row.email_verified,
    operator: row.operator,
    membership: isMember ? { organisationId, role, liveAccess, testEpoch } : null,
  };
}
