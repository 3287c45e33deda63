import type { Queryable } from '@libs/db';
import type { NetworkDate } from './network-time.ts';
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
  xml: string;
  createdAt: Date;
}

export interface StoredSubmission extends SubmissionKey {
  paymentId: string;
  attemptId: string;
  storedMessageId: string;
  messageId: string;
  amountCents: number;
  /** Null while the message was never handed over. */
  submission: Submission | null;
}

interface SubmissionRow {
  tenant_id: string;
  instruction_id: string;
  payment_id: string;
  attempt_id: string;
  stored_message_id: string;
  message_id: string;
  amount: number;
  state: SubmissionState;
  first_sent_at: Date | null;
  due_at: Date | null;
  inquiries: number;
  resends: number;
  reject_code: string | null;
}

const COLUMNS = `s.tenant_id, s.instruction_id, s.payment_id, s.attempt_id, s.stored_message_id, s.message_id, s.amount,
  s.state, s.first_sent_at, s.due_at, s.inquiries, s.resends, s.reject_code`;

function fromRow(row: SubmissionRow): StoredSubmission {
  return {
    tenantId: row.tenant_id,
    instructionId: row.instruction_id,
    paymentId: row.payment_id,
    attemptId: row.attempt_id,
    storedMessageId: row.stored_message_id,
    messageId: row.message_id,
    amountCents: row.amount,
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

/** The instruction, its text and the reference by which the network will answer, for many payments at once. */
export async function insertSubmissions(tx: Queryable, submissions: readonly NewSubmission[]): Promise<void> {
  if (submissions.length === 0) return;
  await tx.query({ name: 'rtp.submit', text: INSERT_SUBMISSIONS }, [
    submissions.map((one) => one.tenantId),
    submissions.map((one) => one.instructionId),
    submissions.map((one) => one.paymentId),
    submissions.map((one) => one.attemptId),
    submissions.map((one) => one.storedMessageId),
    submissions.map((one) => one.messageId),
    submissions.map((one) => one.amountCents),
    submissions.map((one) => one.settlementDate),
    submissions.map((one) => one.xml),
    submissions.map((one) => one.createdAt),
  ]);
}

const INSERT_SUBMISSIONS = `
with input as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::date[],
    $9::text[], $10::timestamptz[])
  as input (tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id, amount, settlement_date,
    content, created_at)
), kept as (
  insert into rail_messages (tenant_id, id, payment_id, rail, direction, kind, content, created_at)
  select tenant_id, stored_message_id, payment_id, 'rtp', 'out', 'pacs.008', content, created_at from input
), referenced as (
  insert into rail_references (reference, tenant_id, payment_id, attempt_id)
  select instruction_id, tenant_id, payment_id, attempt_id from input
)
insert into rtp_submissions (tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id, amount,
  settlement_date, state, inquiries, resends)
select tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id, amount, settlement_date, 'sent',
  0, 0
from input`;

/** A message that is about to leave, as it was stored. */
export interface HandedOver extends SubmissionKey {
  paymentId: string;
  /** How often it was sent before. */
  resends: number;
  xml: string;
}

export interface HandOver {
  keys: readonly SubmissionKey[];
  at: Date;
  dueAt: Date;
  /** What may be sent again: fewer resends than this, and first sent after that. */
  resendsMax: number;
  resendFirstSentAfter: Date;
}

/**
 * Notes that messages are handed over now and answers those that may be: a message that ended meanwhile, or was sent
 * too often or too long ago, is left out.
 */
export async function handOver(tx: Queryable, order: HandOver): Promise<HandedOver[]> {
  const keys = inOrder(order.keys);
  const { rows } = await tx.query<{
    tenant_id: string;
    instruction_id: string;
    payment_id: string;
    resends: number;
    content: string;
  }>({ name: 'rtp.hand_over', text: HAND_OVER }, [
    keys.map((key) => key.tenantId),
    keys.map((key) => key.instructionId),
    order.at,
    order.dueAt,
    order.resendsMax,
    order.resendFirstSentAfter,
  ]);
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    instructionId: row.instruction_id,
    paymentId: row.payment_id,
    resends: row.resends,
    xml: row.content,
  }));
}

const HAND_OVER = `
with handed as (
  update rtp_submissions s set first_sent_at = coalesce(s.first_sent_at, $3::timestamptz),
    due_at = coalesce(s.due_at, $4::timestamptz),
    resends = s.resends + case when s.first_sent_at is null then 0 else 1 end
  from unnest($1::text[], $2::text[]) as wanted (tenant_id, instruction_id)
  where s.tenant_id = wanted.tenant_id and s.instruction_id = wanted.instruction_id
    and s.state in ('sent', 'unknown')
    and (s.first_sent_at is null or (s.resends < $5::int and s.first_sent_at > $6::timestamptz))
  returning s.tenant_id, s.instruction_id, s.payment_id, s.stored_message_id, s.resends
)
select h.tenant_id, h.instruction_id, h.payment_id, h.resends, m.content
from handed h
join rail_messages m on m.tenant_id = h.tenant_id and m.payment_id = h.payment_id and m.id = h.stored_message_id`;

/** Everyone locks submissions in this order, so that two workers never wait for each other in a ring. */
function inOrder<Key extends SubmissionKey>(keys: readonly Key[]): Key[] {
  return keys.toSorted(
    (a, b) => compareText(a.tenantId, b.tenantId) || compareText(a.instructionId, b.instructionId),
  );
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The submissions that these references of the network belong to, locked. */
export async function lockByReference(
  tx: Queryable,
  references: readonly string[],
): Promise<StoredSubmission[]> {
  const { rows } = await tx.query<SubmissionRow>(
    {
      name: 'rtp.lock_by_reference',
      text: `select ${COLUMNS} from unnest($1::text[]) as wanted (reference)
        join rail_references r on r.reference = wanted.reference
        join rtp_submissions s on s.tenant_id = r.tenant_id and s.instruction_id = r.reference
        order by s.tenant_id, s.instruction_id for update of s`,
    },
    [references],
  );
  return rows.map(fromRow);
}

/** Those of these submissions whose outcome is still open, locked. */
export async function lockOpen(tx: Queryable, keys: readonly SubmissionKey[]): Promise<StoredSubmission[]> {
  const { rows } = await tx.query<SubmissionRow>(
    {
      name: 'rtp.lock_open',
      text: `select ${COLUMNS} from unnest($1::text[], $2::text[]) as wanted (tenant_id, instruction_id)
        join rtp_submissions s on s.tenant_id = wanted.tenant_id and s.instruction_id = wanted.instruction_id
        where s.state in ('sent', 'unknown')
        order by s.tenant_id, s.instruction_id for update of s`,
    },
    [keys.map((key) => key.tenantId), keys.map((key) => key.instructionId)],
  );
  return rows.map(fromRow);
}

export interface ChangedSubmission extends SubmissionKey {
  submission: Submission;
}

export async function updateSubmissions(tx: Queryable, changed: readonly ChangedSubmission[]): Promise<void> {
  if (changed.length === 0) return;
  await tx.query(
    {
      name: 'rtp.update',
      text: `update rtp_submissions s set state = c.state, due_at = c.due_at, inquiries = c.inquiries, resends = c.resends,
          reject_code = c.reject_code
        from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::smallint[], $6::smallint[], $7::text[])
          as c (tenant_id, instruction_id, state, due_at, inquiries, resends, reject_code)
        where s.tenant_id = c.tenant_id and s.instruction_id = c.instruction_id`,
    },
    [
      changed.map((one) => one.tenantId),
      changed.map((one) => one.instructionId),
      changed.map(({ submission }) => submission.state),
      changed.map(({ submission }) => submission.dueAt),
      changed.map(({ submission }) => submission.inquiries),
      changed.map(({ submission }) => submission.resends),
      changed.map(({ submission }) => submission.rejectCode),
    ],
  );
}

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
