import type { Queryable } from '@libs/db';
import type { Invoice, InvoiceLine } from './invoice.ts';
import type { Issuer } from './parties.ts';
import { firstDayOf, type Period } from './period.ts';
import type { InvoiceStatus } from './states.ts';

interface LineRow {
  platform: string | null;
  description: string;
  quantity: number;
  amount_cents: number;
}

interface InvoiceRow {
  customer_id: string;
  id: string;
  number: number;
  period: string;
  status: string;
  currency: string;
  lines: LineRow[];
  total_cents: number;
  bill_to_name: string;
  bill_to_email: string;
  bill_to_company: string | null;
  bill_to_address: string | null;
  bill_to_tax_id: string | null;
  issuer: { name: string; lines: string[]; tax_id: string | null } | null;
  issued_at: Date;
  sent_at: Date | null;
  paid_at: Date | null;
}

const COLUMNS = `customer_id, id, number, period, status, currency, lines, total_cents, bill_to_name, bill_to_email,
  bill_to_company, bill_to_address, bill_to_tax_id, issuer, issued_at, sent_at, paid_at`;

function fromRow(row: InvoiceRow): Invoice {
  return {
    customerId: row.customer_id,
    id: row.id,
    number: row.number,
    period: row.period.slice(0, 7),
    status: row.status as InvoiceStatus,
    currency: row.currency,
    lines: row.lines.map((line) => ({
      platform: line.platform,
      description: line.description,
      quantity: line.quantity,
      amountCents: line.amount_cents,
    })),
    totalCents: row.total_cents,
    billTo: {
      name: row.bill_to_name,
      email: row.bill_to_email,
      company: row.bill_to_company,
      address: row.bill_to_address,
      taxId: row.bill_to_tax_id,
    },
    issuer: row.issuer && { name: row.issuer.name, lines: row.issuer.lines, taxId: row.issuer.tax_id },
    issuedAt: row.issued_at,
    sentAt: row.sent_at,
    paidAt: row.paid_at,
  };
}

function toIssuerRow({ name, lines, taxId }: Issuer): InvoiceRow['issuer'] {
  return { name, lines: [...lines], tax_id: taxId };
}

function toLineRow(line: InvoiceLine): LineRow {
  return {
    platform: line.platform,
    description: line.description,
    quantity: line.quantity,
    amount_cents: line.amountCents,
  };
}

/**
 * Which of the customers are there still, and whether their address is verified. Their rows are held until the commit, so
 * that none of them goes before its invoice is there, and a verification at the same moment sees the invoice or is seen by it.
 */
export async function holdCustomers(
  tx: Queryable,
  customerIds: readonly string[],
): Promise<Map<string, { isVerified: boolean }>> {
  const hold = async (condition: string, value: unknown) => {
    const text = `select id, email_verified_at is not null as is_verified from customers where ${condition}
       order by id for share`;
    return (await tx.query<{ id: string; is_verified: boolean }>(text, [value])).rows;
  };
  const rows = [];
  if (!tx.isSpread) rows.push(...(await hold('id = any($1)', customerIds)));
  // Where customers lie on several servers, each is held by a statement of its own.
  else for (const customerId of customerIds.toSorted()) rows.push(...(await hold('id = $1', customerId)));
  return new Map(rows.map((row) => [row.id, { isVerified: row.is_verified }]));
}

/**
 * Writes invoices whose mail is due at once, or waits until the customer's address is verified. The customers are held
 * (`holdCustomers`). Of one who is `gone`, it is known whether the address was verified, and no row is there to hold.
 */
export async function insertInvoices(
  tx: Queryable,
  invoices: readonly Invoice[],
  gone?: { isVerified: boolean },
): Promise<void> {
  const isVerified = gone === undefined ? 'customer.email_verified_at is not null' : '$17::boolean';
  const { rowCount } = await tx.query(
    `insert into invoices (customer_id, id, number, period, status, currency, lines, total_cents, bill_to_name,
       bill_to_email, bill_to_company, bill_to_address, bill_to_tax_id, issuer, issued_at, paid_at, mail_state,
       mail_due_at)
     select new.*, case when ${isVerified} then 'pending' else 'waiting' end,
       case when ${isVerified} then statement_timestamp() end
     from unnest($1::text[], $2::text[], $3::bigint[], $4::date[], $5::text[], $6::text[], $7::jsonb[], $8::bigint[],
       $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::jsonb[], $15::timestamptz[],
       $16::timestamptz[]) as new
       (customer_id, id, number, period, status, currency, lines, total_cents, bill_to_name, bill_to_email,
        bill_to_company, bill_to_address, bill_to_tax_id, issuer, issued_at, paid_at)
     ${gone === undefined ? 'join customers as customer on customer.id = new.customer_id' : ''}`,
    [
      invoices.map(({ customerId }) => customerId),
      invoices.map(({ id }) => id),
      invoices.map(({ number }) => number),
      invoices.map(({ period }) => firstDayOf(period)),
      invoices.map(({ status }) => status),
      invoices.map(({ currency }) => currency),
      invoices.map(({ lines }) => JSON.stringify(lines.map(toLineRow))),
      invoices.map(({ totalCents }) => totalCents),
      invoices.map(({ billTo }) => billTo.name),
      invoices.map(({ billTo }) => billTo.email),
      invoices.map(({ billTo }) => billTo.company),
      invoices.map(({ billTo }) => billTo.address),
      invoices.map(({ billTo }) => billTo.taxId),
      invoices.map(({ issuer }) => issuer && JSON.stringify(toIssuerRow(issuer))),
      invoices.map(({ issuedAt }) => issuedAt),
      invoices.map(({ paidAt }) => paidAt),
      ...(gone === undefined ? [] : [gone.isVerified]),
    ],
  );
  // The number of one that is not written would be a gap in the series.
  if (rowCount !== invoices.length)
    throw new Error(`${rowCount} of ${invoices.length} invoices could be written`);
}

/** Newest first; `before` is the id of the last one that was shown. */
export async function listInvoices(
  db: Queryable,
  query: { customerId: string; before: string | undefined; limit: number },
): Promise<Invoice[]> {
  const { rows } = await db.query<InvoiceRow>(
    `select ${COLUMNS} from invoices where customer_id = $1 and ($2::text is null or id < $2)
     order by id desc limit $3`,
    [query.customerId, query.before ?? null, query.limit],
  );
  return rows.map(fromRow);
}

/** For admins: of all customers, also of those whose account is closed. Newest first, as `listInvoices`. */
export async function listAllInvoices(
  db: Queryable,
  query: { status: InvoiceStatus | undefined; before: string | undefined; limit: number },
): Promise<Invoice[]> {
  const { rows } = await db.query<InvoiceRow>(
    `select ${COLUMNS} from invoices where ($1::text is null or status = $1) and ($2::text is null or id < $2)
     order by id desc limit $3`,
    [query.status ?? null, query.before ?? null, query.limit],
  );
  return rows.map(fromRow);
}

export async function findInvoice(
  db: Queryable,
  key: { customerId: string; id: string },
): Promise<Invoice | undefined> {
  const { rows } = await db.query<InvoiceRow>(
    `select ${COLUMNS} from invoices where customer_id = $1 and id = $2`,
    [key.customerId, key.id],
  );
  return rows[0] && fromRow(rows[0]);
}

/** For admins: by id alone, locked until the transaction ends. */
export async function lockInvoice(tx: Queryable, id: string): Promise<Invoice | undefined> {
  const { rows: owners } = await tx.query<{ customer_id: string }>(
    'select customer_id from invoices where id = $1',
    [id],
  );
  const { rows } = await tx.query<InvoiceRow>(
    `select ${COLUMNS} from invoices where customer_id = $1 and id = $2 for no key update`,
    [owners[0]?.customer_id, id],
  );
  return rows[0] && fromRow(rows[0]);
}

/** Stores a new state; the mail of a void invoice that has not gone out is called off. */
export async function updateStatus(
  tx: Queryable,
  invoice: Pick<Invoice, 'customerId' | 'id' | 'status' | 'paidAt'>,
): Promise<void> {
  await tx.query(
    `update invoices set status = $3, paid_at = $4,
       mail_state = case when $3 = 'void' and mail_state in ('waiting', 'pending', 'sending', 'failed')
         then 'canceled' else mail_state end,
       mail_due_at = case when $3 = 'void' then null else mail_due_at end
     where customer_id = $1 and id = $2`,
    [invoice.customerId, invoice.id, invoice.status, invoice.paidAt],
  );
}

/** An invoice that this process sends now; `attempt` proves later that nobody has taken it over. */
export interface ClaimedMail {
  invoice: Invoice;
  attempt: number;
}

/** Takes mails that are due, of one period or of all, until the lease runs out. */
export async function claimMails(
  db: Queryable,
  query: { period: Period | null; limit: number; leaseMs: number },
): Promise<ClaimedMail[]> {
  const { rows } = await db.query<InvoiceRow & { mail_attempts: number }>(
    `update invoices set mail_state = 'sending', mail_attempts = mail_attempts + 1,
       mail_due_at = statement_timestamp() + $3 * interval '1 millisecond'
     where (customer_id, id) in (
       select customer_id, id from invoices
       where mail_due_at <= statement_timestamp() and ($1::date is null or period = $1)
       order by mail_due_at, id limit $2 ${db.isSpread ? '' : 'for update skip locked'}
     ) and mail_due_at <= statement_timestamp()
     returning ${COLUMNS}, mail_attempts`,
    [query.period === null ? null : firstDayOf(query.period), query.limit, query.leaseMs],
  );
  return rows
    .map((row) => ({ invoice: fromRow(row), attempt: row.mail_attempts }))
    .sort((a, b) => a.invoice.number - b.invoice.number);
}

export type MailOutcome =
  | { kind: 'sent'; at: Date }
  | { kind: 'failed'; error: string /** Null: nobody tries again by itself. */; retryInMs: number | null };

/** False when another has taken the mail over: then its outcome counts. */
export async function recordMail(
  tx: Queryable,
  mail: ClaimedMail,
  outcome: MailOutcome & { status: InvoiceStatus },
): Promise<boolean> {
  const isSent = outcome.kind === 'sent';
  const { rowCount } = await tx.query(
    `update invoices set status = $4, mail_state = case when $5 then 'sent' else 'failed' end,
       sent_at = coalesce($6, sent_at), mail_error = $7,
       mail_due_at = statement_timestamp() + $8::float8 * interval '1 millisecond'
     where customer_id = $1 and id = $2 and mail_attempts = $3 and mail_state = 'sending'`,
    [
      mail.invoice.customerId,
      mail.invoice.id,
      mail.attempt,
      outcome.status,
      isSent,
      isSent ? outcome.at : null,
      isSent ? null : outcome.error,
      isSent ? null : outcome.retryInMs,
    ],
  );
  return rowCount === 1;
}

/** A run asks again for every mail of its period that failed before, however often. */
export async function rearmFailedMails(db: Queryable, period: Period): Promise<void> {
  await db.query(
    `update invoices set mail_due_at = statement_timestamp() where period = $1 and mail_state = 'failed'`,
    [firstDayOf(period)],
  );
}

export async function countUnsent(db: Queryable, period: Period): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) from invoices where period = $1 and mail_state in ('pending', 'sending', 'failed')`,
    [firstDayOf(period)],
  );
  return rows[0]?.count ?? 0;
}
