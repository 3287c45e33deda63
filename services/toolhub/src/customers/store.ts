import type { Queryable } from '@libs/db';
import type { Customer } from './customer.ts';

interface CustomerRow {
  id: string;
  email: string;
  name: string;
  plan: string;
  created_at: Date;
  email_verified: boolean;
}

const CUSTOMER = `customers.id, customers.email, customers.name, customers.plan, customers.created_at,
  customers.email_verified_at is not null as email_verified`;

function fromRow(row: CustomerRow): Customer {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    plan: row.plan,
    createdAt: row.created_at,
    emailVerified: row.email_verified,
  };
}

/** False when the address belongs to another account; the transaction must then not commit. */
export async function insertCustomer(
  tx: Queryable,
  customer: Customer & { emailKeys: readonly string[]; passwordHash: string },
): Promise<boolean> {
  await tx.query(
    'insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $2, $3, $4, $5, $6)',
    [customer.id, customer.email, customer.name, customer.passwordHash, customer.plan, customer.createdAt],
  );
  const { rows } = await tx.query(
    `insert into customer_emails (email_key, customer_id) select key, $2 from unnest($1::text[]) key
     on conflict do nothing returning email_key`,
    // In one order, so that two who sign up with the same address do not wait for each other.
    [customer.emailKeys.toSorted(), customer.id],
  );
  return rows.length === customer.emailKeys.length;
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
  emailKeys: readonly string[],
): Promise<{ person: Customer; passwordHash: string } | undefined> {
  if (db.isSpread) return findLoginApart(db, emailKeys);
  const { rows } = await db.query<CustomerRow & { password_hash: string }>(
    `select ${CUSTOMER}, customers.password_hash from customer_emails
     join customers on customers.id = customer_emails.customer_id where customer_emails.email_key = any($1)
     order by array_position($1, customer_emails.email_key) limit 1`,
    [emailKeys],
  );
  return rows[0] && { person: fromRow(rows[0]), passwordHash: rows[0].password_hash };
}

/** Addresses lie on the first server, and whose they are says which other one to ask. */
async function findLoginApart(
  db: Queryable,
  emailKeys: readonly string[],
): Promise<{ person: Customer; passwordHash: string } | undefined> {
  const { rows: owners } = await db.query<{ customer_id: string }>(
    'select customer_id from customer_emails where email_key = any($1) order by array_position($1, email_key) limit 1',
    [emailKeys],
  );
  const { rows } = await db.query<CustomerRow & { password_hash: string }>(
    `select ${CUSTOMER}, customers.password_hash from customers where id = $1`,
    [owners[0]?.customer_id ?? ''],
  );
  return rows[0] && { person: fromRow(rows[0]), passwordHash: rows[0].password_hash };
}

export async function renameCustomer(db: Queryable, id: string, name: string): Promise<Customer | undefined> {
  const { rows } = await db.query<CustomerRow>(
    `update customers set name = $2 where id = $1 returning ${CUSTOMER}`,
    [id, name],
  );
  return rows[0] && fromRow(rows[0]);
}

/** Two changes at once come one after the other. */
export async function lockCustomer(tx: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await tx.query('select id from customers where id = $1 for no key update', [id]);
  return rowCount === 1;
}

export async function setPassword(tx: Queryable, id: string, passwordHash: string): Promise<void> {
  await tx.query('update customers set password_hash = $2 where id = $1', [id, passwordHash]);
}

/** Undefined when there is no such customer; the first verification is the one that counts. */
export async function markVerified(tx: Queryable, id: string, at: Date): Promise<Customer | undefined> {
  const { rows } = await tx.query<CustomerRow>(
    `update customers set email_verified_at = coalesce(email_verified_at, $2) where id = $1 returning ${CUSTOMER}`,
    [id, at],
  );
  return rows[0] && fromRow(rows[0]);
}
