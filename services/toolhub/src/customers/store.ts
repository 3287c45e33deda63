import type { Queryable } from '@libs/db';
import type { Customer } from './customer.ts';

interface CustomerRow {
  id: string;
  email: string;
  name: string;
  plan: string;
  created_at: Date;
}

const CUSTOMER = 'customers.id, customers.email, customers.name, customers.plan, customers.created_at';

function fromRow(row: CustomerRow): Customer {
  return { id: row.id, email: row.email, name: row.name, plan: row.plan, createdAt: row.created_at };
}

/** False when the address belongs to another account; the transaction must then not commit. */
export async function insertCustomer(
  tx: Queryable,
  customer: Customer & { emailKey: string; passwordHash: string },
): Promise<boolean> {
  await tx.query(
    'insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $2, $3, $4, $5, $6)',
    [customer.id, customer.email, customer.name, customer.passwordHash, customer.plan, customer.createdAt],
  );
  const { rowCount } = await tx.query(
    'insert into customer_emails (email_key, customer_id) values ($1, $2) on conflict do nothing',
    [customer.emailKey, customer.id],
  );
  return rowCount === 1;
}

export async function findCustomer(db: Queryable, id: string): Promise<Customer | undefined> {
  const { rows } = await db.query<CustomerRow>(
    { name: 'customers.find', text: `select ${CUSTOMER} from customers where id = $1` },
    [id],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function findLogin(
  db: Queryable,
  emailKey: string,
): Promise<{ customer: Customer; passwordHash: string } | undefined> {
  const { rows } = await db.query<CustomerRow & { password_hash: string }>(
    `select ${CUSTOMER}, customers.password_hash from customer_emails
     join customers on customers.id = customer_emails.customer_id where customer_emails.email_key = $1`,
    [emailKey],
  );
  return rows[0] && { customer: fromRow(rows[0]), passwordHash: rows[0].password_hash };
}

export interface SessionRecord {
  id: string;
  customerId: string;
  createdAt: Date;
  expiresAt: Date;
}

interface SessionRow {
  id: string;
  customer_id: string;
  created_at: Date;
  expires_at: Date;
}

function sessionFromRow(row: SessionRow): SessionRecord {
  return { id: row.id, customerId: row.customer_id, createdAt: row.created_at, expiresAt: row.expires_at };
}

export async function insertSession(
  db: Queryable,
  session: SessionRecord & { tokenHash: Buffer },
): Promise<void> {
  await db.query(
    'insert into sessions (customer_id, id, token_hash, created_at, expires_at) values ($1, $2, $3, $4, $5)',
    [session.customerId, session.id, session.tokenHash, session.createdAt, session.expiresAt],
  );
}

export async function findSession(
  db: Queryable,
  key: { tokenHash: Buffer } | { id: string },
  now: Date,
): Promise<SessionRecord | undefined> {
  const [column, value] = 'id' in key ? (['id', key.id] as const) : (['token_hash', key.tokenHash] as const);
  const { rows } = await db.query<SessionRow>(
    {
      name: `sessions.find.${column}`,
      text: `select id, customer_id, created_at, expires_at from sessions where ${column} = $1 and expires_at > $2`,
    },
    [value, now],
  );
  return rows[0] && sessionFromRow(rows[0]);
}

export async function deleteSession(db: Queryable, tokenHash: Buffer): Promise<SessionRecord | undefined> {
  const { rows } = await db.query<SessionRow>(
    'delete from sessions where token_hash = $1 returning id, customer_id, created_at, expires_at',
    [tokenHash],
  );
  return rows[0] && sessionFromRow(rows[0]);
}

export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from sessions where expires_at < $1', [now]);
}
