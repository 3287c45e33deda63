import type { Queryable } from '@libs/db';
import type { BatchHeader, Entry } from '../nacha/model.ts';

/** The operator's own books. A mailbox is one customer's line. */

/** What is hashed to a number beside the mailbox, so that other features' locks are other locks. */
const LOCK_FAMILY = 4_212;

/** One at a time: a customer may send a file twice at once. */
export async function lockMailbox(tx: Queryable, mailbox: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [mailbox, LOCK_FAMILY]);
}

export interface ReceivedFile {
  mailbox: string;
  name: string;
  identity: string;
  contentHash: Buffer;
  receivedAt: Date;
  /** Null where it was taken. */
  refusals: readonly string[] | null;
}

export async function findReceived(
  db: Queryable,
  mailbox: string,
  file: { name: string; identity: string },
): Promise<ReceivedFile[]> {
  const { rows } = await db.query<{
    name: string;
    identity: string;
    content_hash: Buffer;
    received_at: Date;
    refusals: string[] | null;
  }>(
    `select name, identity, content_hash, received_at, refusals from sandbox_ach_files
     where mailbox = $1 and (name = $2 or (identity = $3 and refusals is null))`,
    [mailbox, file.name, file.identity],
  );
  return rows.map((row) => ({
    mailbox,
    name: row.name,
    identity: row.identity,
    contentHash: row.content_hash,
    receivedAt: row.received_at,
    refusals: row.refusals,
  }));
}

export async function insertReceived(tx: Queryable, file: ReceivedFile): Promise<void> {
  await tx.query(
    `insert into sandbox_ach_files (mailbox, name, identity, content_hash, received_at, refusals)
     values ($1, $2, $3, $4, $5, $6)`,
    [
      file.mailbox,
      file.name,
      file.identity,
      file.contentHash,
      file.receivedAt,
      file.refusals && JSON.stringify(file.refusals),
    ],
  );
}

export interface BookedEntry {
  trace: string;
  /** YYYY-MM-DD of the file. */
  day: string;
  direction: 'debit' | 'credit';
  amount: number;
  reference: string;
  settlesAt: Date;
}

/** How many of these traces were used before on this day. */
export async function countUsedTraces(
  db: Queryable,
  mailbox: string,
  { traces, day }: { traces: readonly string[]; day: string },
): Promise<number> {
  const { rows } = await db.query<{ used: number }>(
    `select count(*)::int as used from sandbox_ach_entries
     where mailbox = $1 and trace = any($2) and day = $3`,
    [mailbox, traces, day],
  );
  return rows[0]?.used ?? 0;
}

export async function bookEntries(
  tx: Queryable,
  mailbox: string,
  entries: readonly BookedEntry[],
): Promise<void> {
  await tx.query(
    `insert into sandbox_ach_entries (mailbox, trace, day, direction, amount, reference, settles_at)
     select $1, * from unnest($2::text[], $3::date[], $4::text[], $5::bigint[], $6::text[], $7::timestamptz[])`,
    [
      mailbox,
      entries.map((entry) => entry.trace),
      entries.map((entry) => entry.day),
      entries.map((entry) => entry.direction),
      entries.map((entry) => entry.amount),
      entries.map((entry) => entry.reference),
      entries.map((entry) => entry.settlesAt),
    ],
  );
}

/** Those of the references under which an account was debited in a file before. */
export async function debitedReferences(
  db: Queryable,
  mailbox: string,
  references: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ reference: string }>(
    `select distinct reference from sandbox_ach_entries
     where mailbox = $1 and reference = any($2) and direction = 'debit'`,
    [mailbox, references],
  );
  return new Set(rows.map((row) => row.reference));
}

export interface EarlierDebit {
  reference: string;
  amount: number;
  returnCode: string | null;
}

/** What was debited under these references in earlier files. */
export async function findDebits(
  db: Queryable,
  mailbox: string,
  references: readonly string[],
): Promise<EarlierDebit[]> {
  const { rows } = await db.query<{ reference: string; amount: number; return_code: string | null }>(
    `select reference, amount, return_code from sandbox_ach_entries
     where mailbox = $1 and reference = any($2) and direction = 'debit'`,
    [mailbox, references],
  );
  return rows.map(({ return_code: returnCode, ...row }) => ({ ...row, returnCode }));
}

/** The entry to answer, with the header that it stood under. */
export interface Original {
  header: BatchHeader;
  entry: Entry;
}

export interface NewAnswer {
  dueAt: Date;
  kind: 'return' | 'noc';
  code: string;
  trace: string;
  day: string;
  original: Original;
}

export interface PlannedAnswer extends NewAnswer {
  id: number;
}

export async function planAnswers(
  tx: Queryable,
  mailbox: string,
  answers: readonly NewAnswer[],
): Promise<void> {
  if (answers.length === 0) return;
  await tx.query(
    `insert into sandbox_ach_answers (mailbox, due_at, kind, code, trace, day, original)
     select $1, * from unnest($2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::date[], $7::json[])`,
    [
      mailbox,
      answers.map((answer) => answer.dueAt),
      answers.map((answer) => answer.kind),
      answers.map((answer) => answer.code),
      answers.map((answer) => answer.trace),
      answers.map((answer) => answer.day),
      answers.map((answer) => JSON.stringify(answer.original)),
    ],
  );
}

export async function findDueAnswers(
  tx: Queryable,
  mailbox: string,
  { asOf, limit }: { asOf: Date; limit: number },
): Promise<PlannedAnswer[]> {
  const { rows } = await tx.query<{
    id: number;
    due_at: Date;
    kind: 'return' | 'noc';
    code: string;
    trace: string;
    day: string;
    original: Original;
  }>(
    `select id, due_at, kind, code, trace, day, original from sandbox_ach_answers
     where mailbox = $1 and outbox_name is null and due_at <= $2 order by due_at, id limit $3 for update`,
    [mailbox, asOf, limit],
  );
  return rows.map(({ due_at: dueAt, ...row }) => ({ ...row, dueAt }));
}

/** Puts a file of answers where its customer will find it, and notes in the books what was returned. */
export async function putIntoOutbox(
  tx: Queryable,
  mailbox: string,
  file: { name: string; content: string; createdAt: Date; answers: readonly PlannedAnswer[] },
): Promise<void> {
  await tx.query(
    'insert into sandbox_ach_outbox (mailbox, name, content, created_at) values ($1, $2, $3, $4)',
    [mailbox, file.name, file.content, file.createdAt],
  );
  await tx.query('update sandbox_ach_answers set outbox_name = $2 where mailbox = $1 and id = any($3)', [
    mailbox,
    file.name,
    file.answers.map((answer) => answer.id),
  ]);
  const returns = file.answers.filter((answer) => answer.kind === 'return');
  await tx.query(
    `update sandbox_ach_entries e set returned_at = r.at, return_code = r.code
     from unnest($2::text[], $3::date[], $4::timestamptz[], $5::text[]) as r (trace, day, at, code)
     where e.mailbox = $1 and e.trace = r.trace and e.day = r.day`,
    [
      mailbox,
      returns.map((answer) => answer.trace),
      returns.map((answer) => answer.day),
      returns.map((answer) => answer.dueAt),
      returns.map((answer) => answer.code),
    ],
  );
}

/** What lies there at that time: of a later hour, nobody who is still at this one may know. */
export async function findOutbox(
  db: Queryable,
  mailbox: string,
  { asOf, limit }: { asOf: Date; limit: number },
): Promise<{ name: string; content: string }[]> {
  const { rows } = await db.query<{ name: string; content: string }>(
    `select name, content from sandbox_ach_outbox
     where mailbox = $1 and fetched_at is null and date_trunc('milliseconds', created_at) <= $2
     order by created_at, name limit $3`,
    [mailbox, asOf, limit],
  );
  return rows;
}

export async function markFetched(db: Queryable, mailbox: string, name: string, at: Date): Promise<void> {
  await db.query('update sandbox_ach_outbox set fetched_at = $3 where mailbox = $1 and name = $2', [
    mailbox,
    name,
    at,
  ]);
}

/** When the next file will lie in the outbox, or that one lies there already. */
export async function nextAnswerAt(db: Queryable, mailbox: string): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    {
      name: 'sandbox_ach.next',
      text: `select least(
          (select min(due_at) from sandbox_ach_answers where mailbox = $1 and outbox_name is null),
          (select min(created_at) from sandbox_ach_outbox where mailbox = $1 and fetched_at is null)) as at`,
    },
    [mailbox],
  );
  return rows[0]?.at ?? null;
}
