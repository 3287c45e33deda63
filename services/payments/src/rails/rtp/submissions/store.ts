import {
  byteaArray,
  int8Array,
  type Queryable,
  queryByTenant,
  type TenantStatement,
  tenantStatement,
  textArray,
  timestamptzArray,
} from '@libs/db';
import type { NetworkDate } from '../../iso20022/network-time.ts';
import type { Submission, SubmissionState } from './submission.ts';

export interface SubmissionKey {
  tenantId: string;
  instructionId: string;
}

/** An instruction as it is written down before anything is sent. */
export interface NewSubmission extends SubmissionKey {
  paymentId: string;
  attemptId: string;
  storedMessageId: string;
  messageId: string;
  amountCents: number;
  settlementDate: NetworkDate;
  packedSealed: Buffer;
  createdAt: Date;
}

export interface StoredSubmission extends SubmissionKey {
  paymentId: string;
  attemptId: string;
  storedMessageId: string;
  messageId: string;
  amountCents: number;
  settlementDate: NetworkDate;
  /** Null while the message was never handed over. */
  submission: Submission | null;
}

export interface SubmissionRow {
  tenant_id: string;
  instruction_id: string;
  payment_id: string;
  attempt_id: string;
  stored_message_id: string;
  message_id: string;
  amount: number;
  settlement_date: NetworkDate;
  state: SubmissionState;
  first_sent_at: Date | null;
  due_at: Date | null;
  inquiries: number;
  resends: number;
  reject_code: string | null;
}

export const SUBMISSION_COLUMNS = `s.tenant_id, s.instruction_id, s.payment_id, s.attempt_id, s.stored_message_id,
  s.message_id, s.amount, s.settlement_date, s.state, s.first_sent_at, s.due_at, s.inquiries, s.resends, s.reject_code`;

export function fromRow(row: SubmissionRow): StoredSubmission {
  return {
    tenantId: row.tenant_id,
    instructionId: row.instruction_id,
    paymentId: row.payment_id,
    attemptId: row.attempt_id,
    storedMessageId: row.stored_message_id,
    messageId: row.message_id,
    amountCents: row.amount,
    settlementDate: row.settlement_date,
    submission: row.first_sent_at && {
      state: row.state,
      firstSentAt: row.first_sent_at,
      inquiries: row.inquiries,
      resends: row.resends,
      dueAt: row.due_at,
      rejectCode: row.reject_code,
    },
  };
}

export async function drawSerials(tx: Queryable, count: number): Promise<number[]> {
  const { rows } = await tx.query<{ serial: number }>(
    { name: 'rtp.serials', text: `select nextval('rtp_serials') as serial from generate_series(1, $1::int)` },
    [count],
  );
  return rows.map((row) => row.serial);
}

/**
 * The instruction, its text and the reference by which the network will answer, for many payments at once; with when they
 * were handed over, where that is done by the same transaction.
 */
export async function insertSubmissions(
  tx: Queryable,
  submissions: readonly NewSubmission[],
  handedOver: Pick<Submission, 'firstSentAt' | 'dueAt'> | null,
): Promise<void> {
  if (submissions.length === 0) return;
  const columns = {
    tenantIds: textArray(submissions.map((one) => one.tenantId)),
    instructionIds: textArray(submissions.map((one) => one.instructionId)),
    paymentIds: textArray(submissions.map((one) => one.paymentId)),
    attemptIds: textArray(submissions.map((one) => one.attemptId)),
    storedMessageIds: textArray(submissions.map((one) => one.storedMessageId)),
    messageIds: textArray(submissions.map((one) => one.messageId)),
    amounts: int8Array(submissions.map((one) => one.amountCents)),
    settlementDates: submissions.map((one) => one.settlementDate),
    packedSealed: byteaArray(submissions.map((one) => one.packedSealed)),
    createdAt: timestamptzArray(submissions.map((one) => one.createdAt)),
  };
  const sending = [handedOver?.firstSentAt ?? null, handedOver?.dueAt ?? null];
  if (tx.isSpread) return insertApart(tx, columns, sending);
  await tx.query({ name: 'rtp.submit', text: INSERT_SUBMISSIONS }, [...Object.values(columns), ...sending]);
}

/** What a part of a statement finds is brought to every server there, also where nobody asks for it: here each statement is whole. */
async function insertApart(
  tx: Queryable,
  columns: Readonly<Record<string, unknown>>,
  sending: readonly unknown[],
): Promise<void> {
  const { tenantIds, instructionIds, paymentIds, attemptIds, storedMessageIds, messageIds } = columns;
  await tx.query(
    `insert into rail_messages (tenant_id, id, payment_id, rail, direction, kind, packed_sealed, created_at)
     select tenant_id, id, payment_id, 'rtp', 'out', 'pacs.008', packed_sealed, created_at
     from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::timestamptz[])
       as input (tenant_id, id, payment_id, packed_sealed, created_at)`,
    [tenantIds, storedMessageIds, paymentIds, columns.packedSealed, columns.createdAt],
  );
  await tx.query(
    `insert into rail_references (reference, tenant_id, payment_id, attempt_id)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])`,
    [instructionIds, tenantIds, paymentIds, attemptIds],
  );
  await tx.query(
    `insert into rtp_submissions (tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id, amount,
       settlement_date, state, first_sent_at, due_at, inquiries, resends)
     select input.*, 'sent', $9::timestamptz, $10::timestamptz, 0, 0
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::date[]) as input`,
    [
      ...[tenantIds, instructionIds, paymentIds, attemptIds, storedMessageIds, messageIds],
      ...[columns.amounts, columns.settlementDates, ...sending],
    ],
  );
}

/**
 * Where tables are spread: the books of the sandbox's network lie on the first server for themselves, and what is written to
 * them with rows of a tenant commits together with those only where a managed table is written, too.
 */
export async function writeReferenceAgain(tx: Queryable, reference: string): Promise<void> {
  if (tx.isSpread)
    await tx.query('update rail_references set payment_id = payment_id where reference = $1', [reference]);
}

const INSERT_SUBMISSIONS = `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::date[],
    $9::bytea[], $10::timestamptz[])
  as input (tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id, amount, settlement_date,
    packed_sealed, created_at)
), kept as (
  insert into rail_messages (tenant_id, id, payment_id, rail, direction, kind, packed_sealed, created_at)
  select tenant_id, stored_message_id, payment_id, 'rtp', 'out', 'pacs.008', packed_sealed, created_at from input
), referenced as (
  insert into rail_references (reference, tenant_id, payment_id, attempt_id)
  select instruction_id, tenant_id, payment_id, attempt_id from input
)
insert into rtp_submissions (tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id, amount,
  settlement_date, state, first_sent_at, due_at, inquiries, resends)
select tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id, amount, settlement_date, 'sent',
  $11::timestamptz, $12::timestamptz, 0, 0
from input`;

/*
 * Rows are looked up by key, one by one and inside one statement: `lateral … limit 1` leaves the planner no other way.
 * A join would be planned when the tables are small, by reading them whole, and that plan would stay while they grow.
 * Everyone locks in the order of the instructions, so that two workers never wait for each other.
 */
export function inOrder<Key extends Pick<SubmissionKey, 'instructionId'>>(keys: readonly Key[]): Key[] {
  return keys.toSorted((a, b) => (a.instructionId < b.instructionId ? -1 : 1));
}

/** The submissions that these references of the network belong to, locked. */
export async function lockByReference(
  tx: Queryable,
  references: readonly string[],
): Promise<StoredSubmission[]> {
  if (tx.isSpread) return lockByReferenceApart(tx, references);
  const { rows } = await tx.query<SubmissionRow>({ name: 'rtp.lock_by_reference', text: LOCK_BY_REFERENCE }, [
    textArray(references.toSorted()),
  ]);
  return rows.map(fromRow);
}

/** Whose they are is read first, since those tables lie on different servers. */
async function lockByReferenceApart(
  tx: Queryable,
  references: readonly string[],
): Promise<StoredSubmission[]> {
  const owners = await findKeys(tx, references);
  const rows = await queryByTenant<SubmissionRow, SubmissionKey>(tx, LOCK_ANY, inOrder(owners), keyColumns);
  return rows.map(fromRow);
}

async function findKeys(db: Queryable, references: readonly string[]): Promise<SubmissionKey[]> {
  const { rows } = await db.query<SubmissionKey>(
    `select tenant_id as "tenantId", reference as "instructionId" from rail_references where reference = any($1)`,
    [textArray(references)],
  );
  return rows;
}

/** For each of several lists of references, the tenants that they belong to, as far as they are known. */
export async function findOwners(
  db: Queryable,
  lists: readonly (readonly string[])[],
): Promise<readonly string[][]> {
  const keys = await findKeys(db, [...new Set(lists.flat())]);
  const owners = new Map(keys.map(({ tenantId, instructionId }) => [instructionId, tenantId]));
  return lists.map((references) => [...new Set(references.flatMap((one) => owners.get(one) ?? []))]);
}

const LOCK_BY_REFERENCE = `
select s.* from unnest($1::text[]) as wanted (reference)
cross join lateral (select tenant_id from rail_references r where r.reference = wanted.reference limit 1) as r
cross join lateral (select ${SUBMISSION_COLUMNS} from rtp_submissions s
  where s.tenant_id = r.tenant_id and s.instruction_id = wanted.reference limit 1 for update) as s`;

/** Those of these submissions whose outcome is still open, locked. */
export function lockOpen(tx: Queryable, keys: readonly SubmissionKey[]): Promise<StoredSubmission[]> {
  return selectOpen(tx, keys, LOCK_OPEN);
}

/** The same without a lock: who only looks must not wait for those who are just reading the answers. */
export function findOpen(db: Queryable, keys: readonly SubmissionKey[]): Promise<StoredSubmission[]> {
  return selectOpen(db, keys, FIND_OPEN);
}

async function selectOpen(
  db: Queryable,
  keys: readonly SubmissionKey[],
  statement: TenantStatement,
): Promise<StoredSubmission[]> {
  const rows = await queryByTenant<SubmissionRow, SubmissionKey>(db, statement, inOrder(keys), keyColumns);
  return rows.map(fromRow);
}

export function keyColumns(keys: readonly SubmissionKey[]): Buffer[] {
  return [textArray(keys.map((key) => key.tenantId)), textArray(keys.map((key) => key.instructionId))];
}

const submissionsOf = (name: string, ending: string) =>
  tenantStatement(
    name,
    (tenant) => `
    select s.* from unnest($1::text[], $2::text[]) as wanted (tenant_id, instruction_id)
    cross join lateral (select ${SUBMISSION_COLUMNS} from rtp_submissions s
      where s.tenant_id = ${tenant} and s.instruction_id = wanted.instruction_id ${ending}) as s`,
  );
const OPEN = `and s.state in ('sent', 'unknown') limit 1`;
const FIND_OPEN = submissionsOf('rtp.find_open', OPEN);
const LOCK_OPEN = submissionsOf('rtp.lock_open', `${OPEN} for update`);
const LOCK_ANY = submissionsOf('rtp.lock_any', 'limit 1 for update');

export interface ChangedSubmission extends StoredSubmission {
  submission: Submission;
}

/** Writes submissions that are locked, so their place in the table stands still and is what finds them. */
export async function updateSubmissions(tx: Queryable, changed: readonly ChangedSubmission[]): Promise<void> {
  if (changed.length === 0) return;
  await queryByTenant(tx, UPDATE, changed, (some) => [
    textArray(some.map((one) => one.tenantId)),
    textArray(some.map((one) => one.instructionId)),
    textArray(some.map(({ submission }) => submission.state)),
    timestamptzArray(some.map(({ submission }) => submission.firstSentAt)),
    some.map(({ submission }) => submission.dueAt),
    some.map(({ submission }) => submission.inquiries),
    some.map(({ submission }) => submission.resends),
    textArray(some.map(({ submission }) => submission.rejectCode)),
  ]);
}

const CHANGES = `unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::smallint[],
      $7::smallint[], $8::text[])
    as wanted (tenant_id, instruction_id, state, first_sent_at, due_at, inquiries, resends, reject_code)`;
const SET_CHANGES = `state = c.state, first_sent_at = c.first_sent_at, due_at = c.due_at, inquiries = c.inquiries,
  resends = c.resends, reject_code = c.reject_code`;
const UPDATE: TenantStatement = {
  together: {
    name: 'rtp.update',
    text: `
update rtp_submissions s set ${SET_CHANGES}
from (
  select wanted.*, found.place from ${CHANGES}
  cross join lateral (select stored.ctid as place from rtp_submissions stored
    where stored.tenant_id = wanted.tenant_id and stored.instruction_id = wanted.instruction_id limit 1) as found
) as c
where s.ctid = c.place`,
  },
  apart: {
    name: 'rtp.update.apart',
    text: `
update rtp_submissions s set ${SET_CHANGES} from (select * from ${CHANGES}) as c
where s.tenant_id = ($1::text[])[1] and s.instruction_id = c.instruction_id`,
  },
};

/**
 * By name, when the oldest of these jobs was made that waits or is under way. One that has failed before is left out:
 * it may never end.
 */
export async function oldestWaiting(
  db: Queryable,
  jobNames: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await db.query<{ name: string; oldest: Date }>(
    {
      name: 'rtp.oldest_waiting',
      text: `select name, min(created_at) as oldest from jobs
        where name = any($1) and failed_at is null and attempts <= 1 group by name`,
    },
    [jobNames],
  );
  return new Map(rows.map((row) => [row.name, row.oldest]));
}
