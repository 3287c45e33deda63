import type { Queryable } from '@libs/db';
import type { Actor, AuditEntry, Outcome } from './entry.ts';

interface Row {
  customer_id: string;
  id: string;
  at: Date;
  actor_type: string;
  actor_id: string;
  actor_name: string | null;
  action: string;
  target: string | null;
  outcome: string;
  ip: string | null;
  request_id: string | null;
}

function fromRow(row: Row): AuditEntry {
  return {
    customerId: row.customer_id,
    id: row.id,
    at: row.at,
    actor: {
      type: row.actor_type as Actor['type'],
      id: row.actor_id,
      ...(row.actor_name === null ? {} : { name: row.actor_name }),
    },
    action: row.action,
    target: row.target,
    outcome: row.outcome as Outcome,
    ip: row.ip,
    requestId: row.request_id,
  };
}

const INSERT = `
insert into audit_entries (customer_id, id, at, actor_type, actor_id, action, target, outcome, ip, request_id,
  actor_name)
select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
  $8::text[], $9::text[], $10::text[], $11::text[])
on conflict do nothing`;

/** A repeat after a lost answer changes nothing: the ids were made before the first try. */
export async function insertEntries(db: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  await db.query({ name: 'audit.insert', text: INSERT }, [
    entries.map((entry) => entry.customerId),
    entries.map((entry) => entry.id),
    entries.map((entry) => entry.at),
    entries.map((entry) => entry.actor.type),
    entries.map((entry) => entry.actor.id),
    entries.map((entry) => entry.action),
    entries.map((entry) => entry.target),
    entries.map((entry) => entry.outcome),
    entries.map((entry) => entry.ip),
    entries.map((entry) => entry.requestId),
    entries.map((entry) => entry.actor.name ?? null),
  ]);
}

/** Which entries of the log are wanted; null where it does not matter. */
export interface EntryFilter {
  /** Entries before this id. */
  before: string | null;
  /** Entries of this id and later ones. */
  since: string | null;
  actor: string | null;
  action: string | null;
  target: string | null;
  outcome: Outcome | null;
}

export type EntryQuery = EntryFilter & { customerId: string; limit: number };

export interface FoundEntries {
  entries: AuditEntry[];
  /** The last entry that was looked at; null when there is none behind it. */
  lookedUntil: string | null;
}

/**
 * So many entries are looked at for one page, whatever is asked for: a filter that nothing fits does not read millions of
 * rows, and no index beside the key slows down the call path.
 */
const LOOKED_AT_MAX = 10_000;
/** Most pages are full with the first few: a log of any length answers as quickly as a short one. */
const LOOKED_AT_FIRST = 500;

const COLUMNS =
  'customer_id, id, at, actor_type, actor_id, actor_name, action, target, outcome, ip, request_id';

const listAmong = (entriesMax: number) => `
with looked_at as materialized (
  select ${COLUMNS} from audit_entries
  where customer_id = $1 and ($2::text is null or id < $2) and ($3::text is null or id >= $3)
  order by id desc limit ${entriesMax}
), fitting as (
  select * from looked_at
  where ($4::text is null or actor_id = $4) and ($5::text is null or action = $5) and ($6::text is null or target = $6)
    and ($7::text is null or outcome = $7)
  order by id desc limit $8
)
select fitting.*, edge.looked_until
from (select case when count(*) = ${entriesMax} then min(id) end looked_until from looked_at) edge
left join fitting on true
order by fitting.id desc`;
const FEW = { name: 'audit.filter_few', text: listAmong(LOOKED_AT_FIRST) };
const MANY = { name: 'audit.filter', text: listAmong(LOOKED_AT_MAX) };

const LIST_ALL = `
select ${COLUMNS}, null looked_until from audit_entries
where customer_id = $1 and ($2::text is null or id < $2) and ($3::text is null or id >= $3)
order by id desc limit $4`;

/** Newest first. */
export async function listEntries(db: Queryable, query: EntryQuery): Promise<FoundEntries> {
  const { customerId, before, since, actor, action, target, outcome, limit } = query;
  if ([actor, action, target, outcome].every((filter) => filter === null))
    return read(db, { name: 'audit.list', text: LIST_ALL }, [customerId, before, since, limit]);
  const values = [customerId, before, since, actor, action, target, outcome, limit];
  const first = await read(db, FEW, values);
  const isEnough = first.entries.length === limit || first.lookedUntil === null;
  return isEnough ? first : read(db, MANY, values);
}

async function read(
  db: Queryable,
  statement: { name: string; text: string },
  values: readonly unknown[],
): Promise<FoundEntries> {
  const { rows } = await db.query<Row & { looked_until: string | null }>(statement, [...values]);
  // The row of the edge alone stands for no entry.
  return {
    entries: rows.filter(({ id }) => id !== null).map(fromRow),
    lookedUntil: rows[0]?.looked_until ?? null,
  };
}
