import type { Queryable } from '@libs/db';
import type { RailId } from '../rails/rail-ids.ts';
import type { Mode } from '../tenant.ts';
import type { DayQuery, Difference } from './reconciliation.ts';
import {
  type OpenDifference,
  type StoredDifference,
  type StoredFilter,
  subjectOf,
} from './stored-difference.ts';

interface Books {
  rail: RailId;
  mode: Mode;
}

/** Those of a day, and those of other days that are among `found`. */
export async function findOpenDifferences(
  db: Queryable,
  { rail, mode, day }: Books & { day: DayQuery['day'] },
  found: readonly Difference[],
): Promise<OpenDifference[]> {
  const { rows } = await db.query<OpenDifference>(
    `select id, kind, subject from reconciliation_differences
     where rail = $1 and mode = $2 and resolved_at is null and day = $3
     union
     select id, kind, subject from reconciliation_differences
     where rail = $1 and mode = $2 and resolved_at is null
       and (kind, subject) in (select * from unnest($4::text[], $5::text[]))`,
    [rail, mode, day, found.map(({ kind }) => kind), found.map(subjectOf)],
  );
  return rows;
}

export interface SeenDifferences extends Books {
  day: DayQuery['day'];
  at: Date;
  differences: readonly Difference[];
  newId: () => string;
}

/** One that had gone away and is here again stands again, with when it was first seen. */
export async function saveSeenDifferences(tx: Queryable, seen: SeenDifferences): Promise<void> {
  const { rail, mode, day, at, differences } = seen;
  if (differences.length === 0) return;
  await tx.query(
    `insert into reconciliation_differences as known (rail, mode, day, first_seen_at, last_seen_at,
       id, kind, subject, reference, tenant_id, payment_id, ours, theirs)
     select $1, $2, $3::date, $4::timestamptz, $4::timestamptz, found.* from unnest($5::text[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::text[], $11::text[], $12::text[]) as found
     on conflict (rail, mode, kind, subject) do update
       set last_seen_at = excluded.last_seen_at, ours = excluded.ours, theirs = excluded.theirs, resolved_at = null,
         day = case when known.resolved_at is null then least(known.day, excluded.day) else excluded.day end`,
    [
      ...[rail, mode, day, at],
      differences.map(() => seen.newId()),
      differences.map(({ kind }) => kind),
      differences.map(subjectOf),
      differences.map(({ reference }) => reference),
      differences.map(({ tenantId }) => tenantId),
      differences.map(({ paymentId }) => paymentId),
      differences.map(({ ours }) => ours),
      differences.map(({ theirs }) => theirs),
    ],
  );
}

export async function resolveDifferences(tx: Queryable, ids: readonly string[], at: Date): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    'update reconciliation_differences set resolved_at = $2 where id = any($1) and resolved_at is null',
    [ids, at],
  );
}

/** Days before `before` on which something stands; those that were not looked at for longest come first. */
export async function findDaysWithDifferences(
  db: Queryable,
  { rail, mode, before, limit }: Books & { before: DayQuery['day']; limit: number },
): Promise<DayQuery['day'][]> {
  const { rows } = await db.query<{ day: string }>(
    `select day from reconciliation_differences
     where rail = $1 and mode = $2 and resolved_at is null and day < $3
     group by day order by min(last_seen_at), day limit $4`,
    [rail, mode, before, limit],
  );
  return rows.map(({ day }) => day);
}

/** Removes at most `limit` differences that went away before then, or that a sandbox showed first before `tests`. */
export async function removeDifferences(
  db: Queryable,
  { resolved, tests }: { resolved: Date; tests: Date },
  limit: number,
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from reconciliation_differences where id in (
       (select id from reconciliation_differences where resolved_at < $1 limit $3)
       union (select id from reconciliation_differences where mode = 'test' and first_seen_at < $2 limit $3)
       limit $3)`,
    [resolved, tests, limit],
  );
  return rowCount;
}

export interface OpenCount extends Books {
  count: number;
  oldest: Date;
}

/** Those that were first seen before then; all where that is null. */
export async function countOpenDifferences(db: Queryable, seenBefore: Date | null): Promise<OpenCount[]> {
  const { rows } = await db.query<OpenCount>(
    `select rail, mode, count(*)::int as count, min(first_seen_at) as oldest
     from reconciliation_differences
     where resolved_at is null and ($1::timestamptz is null or first_seen_at < $1)
     group by rail, mode order by rail, mode`,
    [seenBefore],
  );
  return rows;
}

interface StoredRow {
  id: string;
  rail: RailId;
  mode: Mode;
  day: string;
  kind: Difference['kind'];
  reference: string | null;
  tenant_id: string | null;
  payment_id: string | null;
  ours: string | null;
  theirs: string | null;
  first_seen_at: Date;
  last_seen_at: Date;
  resolved_at: Date | null;
}

/** Those that stand come first, the newest of each before the others. */
export async function listDifferences(db: Queryable, filter: StoredFilter): Promise<StoredDifference[]> {
  const { rows } = await db.query<StoredRow>(
    `select id, rail, mode, day, kind, reference, tenant_id, payment_id, ours, theirs, first_seen_at, last_seen_at,
       resolved_at
     from reconciliation_differences
     where ($1::boolean is null or (resolved_at is null) = $1)
       and ($2::boolean is null or ((resolved_at is null), id) < ($2::boolean, $3::text))
     order by (resolved_at is null) desc, id desc limit $4`,
    [
      filter.status === null ? null : filter.status === 'open',
      filter.after?.isOpen ?? null,
      filter.after?.id ?? null,
      filter.limit,
    ],
  );
  return rows.map(
    ({ tenant_id, payment_id, first_seen_at, last_seen_at, resolved_at, ...row }): StoredDifference => ({
      ...row,
      tenantId: tenant_id,
      paymentId: payment_id,
      firstSeenAt: first_seen_at,
      lastSeenAt: last_seen_at,
      resolvedAt: resolved_at,
    }),
  );
}
