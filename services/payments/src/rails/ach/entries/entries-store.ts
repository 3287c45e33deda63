import {
  type PreparedStatement,
  type Queryable,
  queryByTenant,
  type TenantStatement,
  tenantStatement,
} from '@libs/db';
import type { AchEntry, AchEntryState, AchLeg } from './entry.ts';
import { type AchScope, followsClock, tenantOfScope } from './scope.ts';

interface EntryRow {
  tenant_id: string;
  payment_id: string;
  attempt_id: string;
  leg: AchLeg;
  scope: string;
  state: AchEntryState;
  amount: number;
  presentment: number;
  same_day: boolean;
  due_at: Date;
  settles_at: Date;
  good_at: Date;
  trace: string | null;
  rdfi: string | null;
  file_id: string | null;
  message_id: string | null;
  return_code: string | null;
}

const COLUMNS = `tenant_id, payment_id, attempt_id, leg, scope, state, amount, presentment, same_day, due_at, settles_at, good_at,
  trace, rdfi, file_id, message_id, return_code`;

/** The table's check guarantees that what was sent has all four. */
function sentAsFromRow({ trace, rdfi, file_id, message_id }: EntryRow): AchEntry['sentAs'] {
  if (trace === null || rdfi === null || file_id === null || message_id === null) return null;
  return { trace, rdfi, fileId: file_id, messageId: message_id };
}

function fromRow(row: EntryRow): AchEntry {
  return {
    tenantId: row.tenant_id,
    paymentId: row.payment_id,
    attemptId: row.attempt_id,
    leg: row.leg,
    scope: row.scope,
    state: row.state,
    amount: row.amount,
    presentment: row.presentment,
    sameDay: row.same_day,
    dueAt: row.due_at,
    settlesAt: row.settles_at,
    goodAt: row.good_at,
    sentAs: sentAsFromRow(row),
    returnCode: row.return_code,
  };
}

export async function insertEntries(tx: Queryable, entries: readonly AchEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx.query(
    {
      name: 'ach.entries_insert',
      text: `insert into ach_entries (tenant_id, payment_id, attempt_id, leg, scope, state, amount, presentment,
          same_day, due_at, settles_at, good_at)
        select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
          $8::smallint[], $9::boolean[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[])
        on conflict do nothing`,
    },
    [
      entries.map((entry) => entry.tenantId),
      entries.map((entry) => entry.paymentId),
      entries.map((entry) => entry.attemptId),
      entries.map((entry) => entry.leg),
      entries.map((entry) => entry.scope),
      entries.map((entry) => entry.state),
      entries.map((entry) => entry.amount),
      entries.map((entry) => entry.presentment),
      entries.map((entry) => entry.sameDay),
      entries.map((entry) => entry.dueAt),
      entries.map((entry) => entry.settlesAt),
      entries.map((entry) => entry.goodAt),
    ],
  );
}

/** Writes what may change in entries. */
export async function updateEntries(tx: Queryable, entries: readonly AchEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await queryByTenant(tx, UPDATE, entries, (some) => [
    some.map((entry) => entry.tenantId),
    some.map((entry) => entry.paymentId),
    some.map((entry) => entry.attemptId),
    some.map((entry) => entry.leg),
    some.map((entry) => entry.state),
    some.map((entry) => entry.dueAt),
    some.map((entry) => entry.settlesAt),
    some.map((entry) => entry.sentAs?.trace ?? null),
    some.map((entry) => entry.sentAs?.rdfi ?? null),
    some.map((entry) => entry.sentAs?.fileId ?? null),
    some.map((entry) => entry.sentAs?.messageId ?? null),
    some.map((entry) => entry.returnCode),
    some.map((entry) => entry.goodAt),
  ]);
}

const UPDATE = tenantStatement(
  'ach.entries_update',
  (
    tenant,
  ) => `update ach_entries e set state = c.state, due_at = c.due_at, settles_at = c.settles_at, trace = c.trace,
      rdfi = c.rdfi, file_id = c.file_id, message_id = c.message_id, return_code = c.return_code, good_at = c.good_at
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::timestamptz[])
      as c (tenant_id, payment_id, attempt_id, leg, state, due_at, settles_at, trace, rdfi, file_id, message_id,
        return_code, good_at)
    where e.tenant_id = ${tenant} and e.payment_id = c.payment_id and e.attempt_id = c.attempt_id
      and e.leg = c.leg`,
  'c.tenant_id',
);

/** The entries of a scope: those of one tenant have it named, where tables are spread, so that its server alone is asked. */
async function queryScope<Row extends object>(
  db: Queryable,
  { name, text }: { name: string; text: (ofScope: string) => string },
  [scope, ...values]: readonly [AchScope, ...unknown[]],
): Promise<Row[]> {
  const ofMany: PreparedStatement = { name, text: text('scope = $1') };
  if (!db.isSpread || !followsClock(scope)) return (await db.query<Row>(ofMany, [scope, ...values])).rows;
  const ofOne = { name: `${name}.apart`, text: text(`tenant_id = $${values.length + 2} and scope = $1`) };
  return (await db.query<Row>(ofOne, [scope, ...values, tenantOfScope(scope)])).rows;
}

export interface DueQuery {
  scope: AchScope;
  /** Due by then. */
  asOf: Date;
  limit: number;
}

export async function findQueued(db: Queryable, { scope, asOf, limit }: DueQuery): Promise<AchEntry[]> {
  const rows = await queryScope<EntryRow>(
    db,
    {
      name: 'ach.entries_queued',
      text: (
        ofScope,
      ) => `select ${COLUMNS} from ach_entries where ${ofScope} and state = 'queued' and due_at <= $2
        order by due_at, payment_id limit $3`,
    },
    [scope, asOf, limit],
  );
  return rows.map(fromRow);
}

/** The files at the bank that have entries whose hour has come. */
export async function findFilesToSettle(
  db: Queryable,
  { scope, asOf }: Omit<DueQuery, 'limit'>,
): Promise<string[]> {
  const rows = await queryScope<{ id: string }>(
    db,
    {
      name: 'ach.files_to_settle',
      text: (
        ofScope,
      ) => `select f.id from ach_files f where f.sent_at is not null and f.id in (select e.file_id from ach_entries e
        where ${ofScope} and state = 'sent' and good_at <= $2)`,
    },
    [scope, asOf],
  );
  return rows.map((row) => row.id);
}

export async function findToSettle(
  db: Queryable,
  { scope, asOf, limit, fileIds }: DueQuery & { fileIds: readonly string[] },
): Promise<AchEntry[]> {
  const rows = await queryScope<EntryRow>(
    db,
    {
      name: 'ach.entries_to_settle',
      text: (
        ofScope,
      ) => `select ${COLUMNS} from ach_entries where ${ofScope} and state = 'sent' and good_at <= $2
          and file_id = any($4) order by good_at, payment_id limit $3`,
    },
    [scope, asOf, limit, fileIds],
  );
  return rows.map(fromRow);
}

/** When the next entry leaves, or counts. */
export async function nextEntryAt(db: Queryable, scope: AchScope): Promise<Date | null> {
  const rows = await queryScope<{ at: Date | null }>(
    db,
    {
      name: 'ach.entries_next',
      text: (ofScope) => `select least(
          (select min(due_at) from ach_entries where ${ofScope} and state = 'queued'),
          (select min(good_at) from ach_entries where ${ofScope} and state = 'sent')) as at`,
    },
    [scope],
  );
  return rows[0]?.at ?? null;
}

/** Every leg of these payments. */
export async function findEntriesOf(
  db: Queryable,
  keys: readonly { tenantId: string; id: string }[],
): Promise<AchEntry[]> {
  const rows = await queryByTenant<EntryRow, { tenantId: string; id: string }>(
    db,
    OF_PAYMENTS,
    keys,
    (some) => [some.map((key) => key.tenantId), some.map((key) => key.id)],
  );
  return rows.map(fromRow);
}

const OF_PAYMENTS: TenantStatement = {
  together: {
    name: 'ach.entries_of',
    text: `select ${COLUMNS} from ach_entries
      where (tenant_id, payment_id) in (select * from unnest($1::text[], $2::text[]))
      order by tenant_id, payment_id, due_at`,
  },
  apart: {
    name: 'ach.entries_of.apart',
    text: `select ${COLUMNS} from ach_entries
      where tenant_id = ($1::text[])[1] and payment_id = any($2)
      order by payment_id, due_at`,
  },
};

/** Traces come again after ten million, so one may have several entries: the latest stands first. */
export async function findByTraces(
  db: Queryable,
  scope: AchScope,
  traces: readonly string[],
): Promise<AchEntry[]> {
  const rows = await queryScope<EntryRow>(
    db,
    {
      name: 'ach.entries_by_trace',
      text: (ofScope) =>
        `select ${COLUMNS} from ach_entries where ${ofScope} and trace = any($2) order by due_at desc`,
    },
    [scope, traces],
  );
  return rows.map(fromRow);
}

export async function findInFile(db: Queryable, fileId: string): Promise<AchEntry[]> {
  const { rows } = await db.query<EntryRow>(
    `select ${COLUMNS} from ach_entries where file_id = $1 order by tenant_id, payment_id`,
    [fileId],
  );
  return rows.map(fromRow);
}
