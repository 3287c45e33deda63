import { type Queryable, queryByTenant, type TenantStatement } from '@libs/db';
import type { AchLeg } from '../entries/entry.ts';
import type { AchScope } from '../entries/scope.ts';

/** A file that came back and was read. */
export interface StoredAnswer {
  id: string;
  scope: AchScope;
  name: string;
  contentHash: Buffer;
  contentSealed: Buffer;
  asOf: Date;
  createdAt: Date;
}

export async function insertAnswer(tx: Queryable, answer: StoredAnswer): Promise<void> {
  await tx.query(
    `insert into ach_answers (id, scope, name, content_hash, content_sealed, as_of, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      answer.id,
      answer.scope,
      answer.name,
      answer.contentHash,
      answer.contentSealed,
      answer.asOf,
      answer.createdAt,
    ],
  );
}

export interface KnownAnswer {
  name: string;
  acknowledgedAt: Date | null;
}

/** Whether this very content was read before. */
export async function findAnswer(
  db: Queryable,
  scope: AchScope,
  contentHash: Buffer,
): Promise<KnownAnswer | undefined> {
  const { rows } = await db.query<{ name: string; acknowledged_at: Date | null }>(
    'select name, acknowledged_at from ach_answers where scope = $1 and content_hash = $2',
    [scope, contentHash],
  );
  return rows[0] && { name: rows[0].name, acknowledgedAt: rows[0].acknowledged_at };
}

export async function markAcknowledged(
  db: Queryable,
  key: { scope: AchScope; name: string },
  at: Date,
): Promise<void> {
  await db.query(
    `update ach_answers set acknowledged_at = $3
     where scope = $1 and name = $2 and acknowledged_at is null`,
    [key.scope, key.name, at],
  );
}

/** What an answer said of one entry. */
export interface StoredReply {
  tenantId: string;
  paymentId: string;
  id: string;
  attemptId: string;
  leg: AchLeg;
  kind: 'return' | 'noc';
  code: string;
  trace: string;
  /** A return that came after its deadline. */
  untimely: boolean;
  answerId: string;
  createdAt: Date;
}

export async function insertReplies(tx: Queryable, replies: readonly StoredReply[]): Promise<void> {
  if (replies.length === 0) return;
  await tx.query(
    `insert into ach_replies (tenant_id, payment_id, id, attempt_id, leg, kind, code, trace, untimely, answer_id,
       created_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::boolean[], $10::text[], $11::timestamptz[])`,
    [
      replies.map((reply) => reply.tenantId),
      replies.map((reply) => reply.paymentId),
      replies.map((reply) => reply.id),
      replies.map((reply) => reply.attemptId),
      replies.map((reply) => reply.leg),
      replies.map((reply) => reply.kind),
      replies.map((reply) => reply.code),
      replies.map((reply) => reply.trace),
      replies.map((reply) => reply.untimely),
      replies.map((reply) => reply.answerId),
      replies.map((reply) => reply.createdAt),
    ],
  );
}

export interface ReplyWithAnswer {
  id: string;
  kind: 'return' | 'noc';
  trace: string;
  createdAt: Date;
  answerId: string;
  contentSealed: Buffer;
}

export async function findReplies(
  db: Queryable,
  key: { tenantId: string; id: string },
): Promise<ReplyWithAnswer[]> {
  const { rows } = await db.query<{
    id: string;
    kind: 'return' | 'noc';
    trace: string;
    created_at: Date;
    answer_id: string;
    content_sealed: Buffer;
  }>(
    `select r.id, r.kind, r.trace, r.created_at, r.answer_id, a.content_sealed
     from ach_replies r join ach_answers a on a.id = r.answer_id
     where r.tenant_id = $1 and r.payment_id = $2`,
    [key.tenantId, key.id],
  );
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    trace: row.trace,
    createdAt: row.created_at,
    answerId: row.answer_id,
    contentSealed: row.content_sealed,
  }));
}

/** A notification of change that was applied to an entry; what it said stands in its file. */
export type AppliedChange = Pick<
  StoredReply,
  'tenantId' | 'paymentId' | 'attemptId' | 'leg' | 'code' | 'trace' | 'answerId'
>;

interface ChangeRow {
  tenant_id: string;
  payment_id: string;
  attempt_id: string;
  leg: AchLeg;
  code: string;
  trace: string;
  answer_id: string;
}

const CHANGE_COLUMNS = 'tenant_id, payment_id, attempt_id, leg, code, trace, answer_id';
const CHANGES_OF: TenantStatement = {
  together: {
    name: 'ach.changes_of',
    text: `select ${CHANGE_COLUMNS} from ach_replies
      where (tenant_id, payment_id) in (select * from unnest($1::text[], $2::text[])) and kind = 'noc'`,
  },
  apart: {
    name: 'ach.changes_of.apart',
    text: `select ${CHANGE_COLUMNS} from ach_replies
      where tenant_id = ($1::text[])[1] and payment_id = any($2) and kind = 'noc'`,
  },
};

export async function findAppliedChanges(
  db: Queryable,
  keys: readonly { tenantId: string; id: string }[],
): Promise<AppliedChange[]> {
  const rows = await queryByTenant<ChangeRow, { tenantId: string; id: string }>(
    db,
    CHANGES_OF,
    keys,
    (some) => [some.map((key) => key.tenantId), some.map((key) => key.id)],
  );
  return rows.map((row) => ({
    tenantId: row.tenant_id,
    paymentId: row.payment_id,
    attemptId: row.attempt_id,
    leg: row.leg,
    code: row.code,
    trace: row.trace,
    answerId: row.answer_id,
  }));
}

export async function findSealedAnswer(db: Queryable, id: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ content_sealed: Buffer }>(
    'select content_sealed from ach_answers where id = $1',
    [id],
  );
  return rows[0]?.content_sealed;
}
