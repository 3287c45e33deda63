import type { Queryable } from '@libs/db';
import type { Approval, ApprovalRules, ApprovalStatus, ListedApproval, NewApproval } from './approval.ts';
import { rememberedKey } from './approval.ts';

/** Undefined where the customer never set any. */
export async function findRules(db: Queryable, customerId: string): Promise<ApprovalRules | undefined> {
  const { rows } = await db.query<{
    send: boolean;
    deletion: boolean;
    tools: Record<string, boolean>;
    remembered: { client: string; tool: string }[];
  }>(
    {
      name: 'approvals.rules',
      text: `select send, deletion, tools, coalesce((
               select jsonb_agg(jsonb_build_object('client', client, 'tool', tool))
               from approval_remembered r where r.customer_id = $1
             ), '[]') as remembered
             from approval_rules where customer_id = $1`,
    },
    [customerId],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const remembered = new Set(row.remembered.map(({ client, tool }) => rememberedKey(client, tool)));
  return { send: row.send, deletion: row.deletion, tools: row.tools, remembered };
}

export async function writeRules(
  tx: Queryable,
  rules: Omit<ApprovalRules, 'remembered'> & { customerId: string; at: Date },
): Promise<void> {
  const { customerId, send, deletion, tools, at } = rules;
  await tx.query(
    `insert into approval_rules (customer_id, send, deletion, tools, updated_at) values ($1, $2, $3, $4, $5)
     on conflict (customer_id) do update set send = excluded.send, deletion = excluded.deletion,
       tools = excluded.tools, updated_at = excluded.updated_at`,
    [customerId, send, deletion, JSON.stringify(tools), at],
  );
}

export async function forgetRemembered(tx: Queryable, customerId: string): Promise<void> {
  await tx.query('delete from approval_remembered where customer_id = $1', [customerId]);
}

export async function remember(
  tx: Queryable,
  pair: { customerId: string; client: string; tool: string; at: Date },
): Promise<void> {
  await tx.query(
    `insert into approval_remembered (customer_id, client, tool, created_at) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [pair.customerId, pair.client, pair.tool, pair.at],
  );
}

/** So that calls that arrive together are noted one after the other; false where the rules are gone. */
export async function lockRules(tx: Queryable, customerId: string): Promise<boolean> {
  const { rowCount } = await tx.query('select 1 from approval_rules where customer_id = $1 for update', [
    customerId,
  ]);
  return rowCount === 1;
}

export async function countPending(
  tx: Queryable,
  { customerId, now }: { customerId: string; now: Date },
): Promise<{ count: number; bytes: number }> {
  const { rows } = await tx.query<{ count: number; bytes: number }>(
    `select count(*)::int as count, coalesce(sum(octet_length(sealed_arguments)), 0)::int as bytes
     from approvals where customer_id = $1 and status = 'pending' and expires_at > $2`,
    [customerId, now],
  );
  return rows[0] ?? { count: 0, bytes: 0 };
}

interface Row {
  customer_id: string;
  id: string;
  client: string;
  client_name: string;
  tool: string;
  platform: string;
  arguments_hash: Buffer;
  key: string | null;
  status: Approval['status'];
  used_key: string | null;
  created_at: Date;
  expires_at: Date;
  decided_at: Date | null;
}

/** All but what the call would send. */
const COLUMNS = `customer_id, id, client, client_name, tool, platform, arguments_hash, key, status, used_key,
  created_at, expires_at, decided_at`;
/** A page of a list holds so much of each. */
const LISTED_BYTES_MAX = 64 * 1024;

const fromRow = (row: Row): Approval => ({
  customerId: row.customer_id,
  id: row.id,
  client: { id: row.client, name: row.client_name },
  tool: row.tool,
  platform: row.platform,
  argumentsHash: row.arguments_hash,
  key: row.key,
  status: row.status,
  usedKey: row.used_key,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  decidedAt: row.decided_at,
});

export async function insertApproval(tx: Queryable, approval: NewApproval): Promise<void> {
  const { client, createdAt, expiresAt, argumentsHash, sealedArguments, key } = approval;
  await tx.query(
    `insert into approvals (customer_id, id, client, client_name, tool, platform, arguments_hash, sealed_arguments, key,
       status, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[approval.customerId, approval.id, client.id, client.name, approval.tool, approval.platform],
      ...[argumentsHash, sealedArguments, key, approval.status, createdAt, expiresAt],
    ],
  );
}

export async function findApproval(
  db: Queryable,
  { customerId, id }: { customerId: string; id: string },
): Promise<Approval | undefined> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from approvals where customer_id = $1 and id = $2`,
    [customerId, id],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function findSealedArguments(
  db: Queryable,
  { customerId, id }: { customerId: string; id: string },
): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ sealed_arguments: Buffer }>(
    'select sealed_arguments from approvals where customer_id = $1 and id = $2',
    [customerId, id],
  );
  return rows[0]?.sealed_arguments;
}

export async function lockApproval(
  tx: Queryable,
  { customerId, id }: { customerId: string; id: string },
): Promise<Approval | undefined> {
  const { rows } = await tx.query<Row>(
    `select ${COLUMNS} from approvals where customer_id = $1 and id = $2 for update`,
    [customerId, id],
  );
  return rows[0] && fromRow(rows[0]);
}

/** The newest for this key. */
export async function findByKey(
  db: Queryable,
  { customerId, tool, key }: { customerId: string; tool: string; key: string },
): Promise<Approval | undefined> {
  const { rows } = await db.query<Row>(
    `select ${COLUMNS} from approvals where customer_id = $1 and tool = $2 and key = $3 order by id desc limit 1`,
    [customerId, tool, key],
  );
  return rows[0] && fromRow(rows[0]);
}

/** The same call by the same client, which waits already. */
export async function findSamePending(
  tx: Queryable,
  same: {
    customerId: string;
    tool: string;
    client: string;
    /** Any of these. */
    argumentsHashes: readonly Buffer[];
    key: string | null;
    now: Date;
  },
): Promise<Approval | undefined> {
  const { rows } = await tx.query<Row>(
    `select ${COLUMNS} from approvals where customer_id = $1 and tool = $2 and client = $3 and arguments_hash = any($4::bytea[])
       and key is not distinct from $5 and status = 'pending' and expires_at > $6
     order by id desc limit 1`,
    [same.customerId, same.tool, same.client, same.argumentsHashes, same.key, same.now],
  );
  return rows[0] && fromRow(rows[0]);
}

/** Uses up an allowance; false where it is none, or none any more. */
export async function takeAllowance(
  db: Queryable,
  allowance: { customerId: string; id: string; key: string; now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update approvals set status = 'used', used_key = $3
     where customer_id = $1 and id = $2 and status = 'allowed' and expires_at > $4`,
    [allowance.customerId, allowance.id, allowance.key, allowance.now],
  );
  return rowCount === 1;
}

/** Notes that it ran though nobody was asked any more; false where it has run, was refused or has expired. */
export async function noteRun(
  db: Queryable,
  run: { customerId: string; id: string; key: string; now: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update approvals set status = 'used', used_key = $3
     where customer_id = $1 and id = $2 and status in ('pending', 'allowed') and expires_at > $4`,
    [run.customerId, run.id, run.key, run.now],
  );
  return rowCount === 1;
}

export async function writeDecision(
  tx: Queryable,
  decision: { customerId: string; id: string; status: 'allowed' | 'denied'; at: Date },
): Promise<void> {
  await tx.query('update approvals set status = $3, decided_at = $4 where customer_id = $1 and id = $2', [
    decision.customerId,
    decision.id,
    decision.status,
    decision.at,
  ]);
}

/** Newest first. */
export async function listApprovals(
  db: Queryable,
  page: {
    customerId: string;
    status: ApprovalStatus | undefined;
    before: string | undefined;
    limit: number;
    now: Date;
  },
): Promise<ListedApproval[]> {
  const { rows } = await db.query<Row & { short_arguments: Buffer | null }>(
    `select ${COLUMNS},
       case when octet_length(sealed_arguments) <= $6 then sealed_arguments end as short_arguments
     from approvals where customer_id = $1 and ($2::text is null or id < $2)
       and ($3::text is null or $3 = case
         when status in ('pending', 'allowed') and expires_at <= $4 then 'expired' else status end)
     order by id desc limit $5`,
    [page.customerId, page.before ?? null, page.status ?? null, page.now, page.limit, LISTED_BYTES_MAX],
  );
  return rows.map((row) => ({ ...fromRow(row), sealedArguments: row.short_arguments }));
}

/** Those that nobody decided on in time, each told once. */
export async function noteExpired(
  db: Queryable,
  { now, limit }: { now: Date; limit: number },
): Promise<{ customerId: string; id: string }[]> {
  const { rows } = await db.query<{ customer_id: string; id: string }>(
    `update approvals set expiry_noted_at = $1 where (customer_id, id) in (
       select customer_id, id from approvals
       where expires_at <= $1 and expiry_noted_at is null and status in ('pending', 'allowed')
       order by expires_at limit $2 ${db.isSpread ? '' : 'for update skip locked'}
     ) and expiry_noted_at is null returning customer_id, id`,
    [now, limit],
  );
  return rows.map((row) => ({ customerId: row.customer_id, id: row.id }));
}

export async function deleteOld(
  db: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from approvals where (customer_id, id) in (
       select customer_id, id from approvals where expires_at <= $1 limit $2)`,
    [before, limit],
  );
  return rowCount;
}
