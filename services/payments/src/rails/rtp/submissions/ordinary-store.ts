import {
  boolArray,
  int8Array,
  type Queryable,
  queryByTenant,
  type TenantStatement,
  textArray,
} from '@libs/db';
import type { Mode } from '../../../tenant.ts';
import {
  fromRow,
  inOrder,
  keyColumns,
  type StoredSubmission,
  SUBMISSION_COLUMNS,
  type SubmissionKey,
  type SubmissionRow,
} from './store.ts';
import type { Submission } from './submission.ts';

/*
 * The ordinary life of an instruction, in which it leaves once and is accepted by its first answer: one statement for
 * each, where others are looked at with a lock and then changed.
 */

/**
 * Notes messages as handed over now, those of them that never were; answers these. What was noted before, or has ended, is
 * left as it is, for who looks at each. One statement instead of a look and a change: nearly all messages leave once.
 */
export async function handOverFirst(
  tx: Queryable,
  keys: readonly SubmissionKey[],
  { firstSentAt, dueAt }: Pick<Submission, 'firstSentAt' | 'dueAt'>,
): Promise<StoredSubmission[]> {
  const rows = await queryByTenant<SubmissionRow, SubmissionKey>(tx, HAND_OVER, inOrder(keys), (some) => [
    ...keyColumns(some),
    firstSentAt,
    dueAt,
  ]);
  return rows.map(fromRow);
}

const HAND_OVER_SET =
  'update rtp_submissions s set first_sent_at = $3::timestamptz, due_at = $4::timestamptz';
const NEVER_HANDED_OVER = `s.state = 'sent' and s.first_sent_at is null`;
const HAND_OVER: TenantStatement = {
  together: {
    name: 'rtp.hand_over',
    text: `${HAND_OVER_SET}
from (
  select found.place from unnest($1::text[], $2::text[]) as wanted (tenant_id, instruction_id)
  cross join lateral (select stored.ctid as place from rtp_submissions stored
    where stored.tenant_id = wanted.tenant_id and stored.instruction_id = wanted.instruction_id limit 1) as found
) as c
where s.ctid = c.place and ${NEVER_HANDED_OVER} returning ${SUBMISSION_COLUMNS}`,
  },
  apart: {
    name: 'rtp.hand_over.apart',
    text: `${HAND_OVER_SET}
from (select * from unnest($1::text[], $2::text[]) as wanted (tenant_id, instruction_id)) as c
where s.tenant_id = ($1::text[])[1] and s.instruction_id = c.instruction_id and ${NEVER_HANDED_OVER} returning ${SUBMISSION_COLUMNS}`,
  },
};

/** What a report says that accepts a transfer: enough to know the very one that it is about. */
export interface AcceptedTransfer {
  instructionId: string;
  messageId: string;
  amountCents: number;
  mode: Mode;
}

export type AcceptedSubmission = Pick<
  StoredSubmission,
  'tenantId' | 'instructionId' | 'paymentId' | 'attemptId'
>;

/**
 * Ends instructions that were handed over and wait for their first answer, where the network accepted these very transfers;
 * answers those that it ended. What is otherwise in any way is left as it is, for who looks at each: nearly all answers are
 * this one, and one statement does for them what a look with a lock, and a change, do for the others. Those others are locked
 * by it as well, each in its place: who locked them afterwards, behind those that are ended, would leave the order.
 */
export async function acceptFirst(
  tx: Queryable,
  accepted: readonly AcceptedTransfer[],
  others: readonly string[],
): Promise<AcceptedSubmission[]> {
  // Tables that lie on different servers are not joined.
  if (accepted.length === 0 || tx.isSpread) return [];
  const ordered = inOrder([
    ...accepted,
    ...others.map((instructionId) => ({ instructionId, messageId: null, amountCents: 0, mode: 'test' })),
  ]);
  const { rows } = await tx.query<AcceptedSubmission>({ name: 'rtp.accept_first', text: ACCEPT_FIRST }, [
    textArray(ordered.map((one) => one.instructionId)),
    textArray(ordered.map((one) => one.messageId)),
    int8Array(ordered.map((one) => one.amountCents)),
    boolArray(ordered.map((one) => one.mode === 'live')),
  ]);
  return rows;
}

const isFirstAnswer = (stored: string, answer: string) =>
  `${stored}.state = 'sent' and ${stored}.first_sent_at is not null and ${stored}.message_id = ${answer}.message_id
    and ${stored}.amount = ${answer}.amount and (right(${stored}.tenant_id, 5) = '.live') = ${answer}.is_live`;

// Without `offset` the planner may look for rows to change before it locks the others, and then it locks none of them.
const ACCEPT_FIRST = `
update rtp_submissions s set state = 'accepted', due_at = null
from (
  select wanted.*, found.place from unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[])
    as wanted (reference, message_id, amount, is_live)
  cross join lateral (select tenant_id from rail_references r where r.reference = wanted.reference limit 1) as r
  cross join lateral (select stored.ctid as place, (${isFirstAnswer('stored', 'wanted')}) is true as ends
    from rtp_submissions stored
    where stored.tenant_id = r.tenant_id and stored.instruction_id = wanted.reference limit 1) as found
  left join lateral (select from rtp_submissions held
    where not found.ends and held.tenant_id = r.tenant_id and held.instruction_id = wanted.reference limit 1
    for update) as held on true
  offset 0
) as c
where s.ctid = c.place and ${isFirstAnswer('s', 'c')}
returning s.tenant_id as "tenantId", s.instruction_id as "instructionId", s.payment_id as "paymentId",
  s.attempt_id as "attemptId"`;
