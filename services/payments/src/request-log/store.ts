import {
  type DividedTable,
  dayBorders,
  int8Array,
  type Queryable,
  textArray,
  timestamptzArray,
} from '@libs/db';
import type { RequestLog, RequestLogBodies, StoredRequest } from './request-log.ts';

interface LogRow {
  id: string;
  at: Date;
  request_id: string;
  key_id: string | null;
  user_id: string | null;
  method: string;
  path: string;
  query: string | null;
  status: number;
  duration_ms: number;
  ip: string;
  api_version: string;
  idempotency_key: string | null;
}

interface BodyRow {
  request_body: string | null;
  request_bytes: number;
  response_body: string | null;
  response_bytes: number;
}

const COLUMNS =
  'id, at, request_id, key_id, user_id, method, path, query, status, duration_ms, ip, api_version, idempotency_key';
const BODY_COLUMNS = 'request_body, request_bytes, response_body, response_bytes';

function rowToLog(row: LogRow): RequestLog {
  return {
    id: row.id,
    at: row.at,
    requestId: row.request_id,
    keyId: row.key_id,
    userId: row.user_id,
    method: row.method,
    path: row.path,
    query: row.query,
    status: row.status,
    durationMs: row.duration_ms,
    ip: row.ip,
    apiVersion: row.api_version,
    idempotencyKey: row.idempotency_key,
  };
}

/** All of them by one statement; each row's day has its part of the table already. */
export async function insertRequestLogs(db: Queryable, rows: readonly StoredRequest[]): Promise<void> {
  const texts = (of: (row: StoredRequest) => string | null) => textArray(rows.map(of));
  const numbers = (of: (row: StoredRequest) => number) => int8Array(rows.map((row) => Math.round(of(row))));
  await db.query(
    `insert into request_logs (tenant_id, day, ${COLUMNS}, ${BODY_COLUMNS})
     select tenant_id, (at at time zone 'UTC')::date, ${COLUMNS}, ${BODY_COLUMNS}
     from unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::bigint[], $11::bigint[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bigint[],
       $17::text[], $18::bigint[])
       as kept (tenant_id, ${COLUMNS}, ${BODY_COLUMNS})`,
    [
      texts((row) => row.tenantId),
      texts((row) => row.id),
      timestamptzArray(rows.map((row) => row.at)),
      texts((row) => row.requestId),
      texts((row) => row.keyId),
      texts((row) => row.userId),
      texts((row) => row.method),
      texts((row) => row.path),
      texts((row) => row.query),
      numbers((row) => row.status),
      numbers((row) => row.durationMs),
      texts((row) => row.ip),
      texts((row) => row.apiVersion),
      texts((row) => row.idempotencyKey),
      texts((row) => row.requestBody),
      numbers((row) => row.requestBytes),
      texts((row) => row.responseBody),
      numbers((row) => row.responseBytes),
    ],
  );
}

export async function addLeftOut(
  db: Queryable,
  day: string,
  leftOut: ReadonlyMap<string, number>,
): Promise<void> {
  const byTenant = [...leftOut].sort(([a], [b]) => (a < b ? -1 : 1));
  await db.query(
    `insert into request_logs_left_out as known (tenant_id, day, calls)
     select tenant_id, $1::date, calls from unnest($2::text[], $3::bigint[]) as added (tenant_id, calls)
     on conflict (tenant_id, day) do update set calls = known.calls + excluded.calls`,
    [day, textArray(byTenant.map(([tenantId]) => tenantId)), int8Array(byTenant.map(([, calls]) => calls))],
  );
}

export const logsTable = (keptDays: number): DividedTable => ({
  ...{ name: 'request_logs', borders: dayBorders, daysPerPart: 1, keptDays },
});

export async function removeLeftOutBefore(db: Queryable, day: string, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from request_logs_left_out where (tenant_id, day) in (
       select tenant_id, day from request_logs_left_out where day < $1 limit $2)`,
    [day, limit],
  );
  return rowCount;
}

export interface LogFilters {
  statusMin: number;
  statusMax: number;
  method: string | null;
  /** How the path begins. */
  path: string | null;
  keyId: string | null;
  requestId: string | null;
}

export interface LogPlace {
  day: string;
  id: string;
}

/**
 * Looks through at most `lookMax` calls, newest first, and gives those that fit. Without that bound a filter that fits
 * nothing would read everything that is kept.
 */
export async function listRequestLogs(
  db: Queryable,
  tenantId: string,
  query: { since: string; before: LogPlace | null; filters: LogFilters; limit: number; lookMax: number },
): Promise<{ logs: RequestLog[]; lookedTo: LogPlace | null }> {
  const { filters, before } = query;
  // What failed is seldom and has an index of its own.
  const failed = filters.statusMin >= 400 ? 'and status >= 400' : '';
  const { rows } = await db.query<LogRow & { fits: boolean; day: string }>(
    `with looked as (
       select day::text as day, ${COLUMNS}, status between $4 and $5 and ($6::text is null or method = $6)
         and ($7::text is null or starts_with(path, $7)) and ($8::text is null or $8 in (key_id, user_id)) as fits
       from request_logs
       where tenant_id = $1 and day >= $2::date and ($3::date is null or (day, id) < ($3::date, $9))
         and ($10::text is null or request_id = $10) ${failed}
       order by request_logs.day desc, id desc limit $11
     ), numbered as (
       select *, sum(fits::int) over w as nth, row_number() over w as place, count(*) over () as looked_at
       from looked window w as (order by day desc, id desc)
     )
     select * from numbered where (fits and nth <= $12) or place = looked_at order by day desc, id desc`,
    [
      ...[tenantId, query.since, before?.day ?? null, filters.statusMin, filters.statusMax, filters.method],
      ...[filters.path, filters.keyId, before?.id ?? null, filters.requestId, query.lookMax, query.limit],
    ],
  );
  const last = rows.at(-1);
  const looked = Number((last as unknown as { looked_at?: number } | undefined)?.looked_at ?? 0);
  return {
    logs: rows
      .filter(({ fits }) => fits)
      .slice(0, query.limit)
      .map(rowToLog),
    lookedTo: last !== undefined && looked >= query.lookMax ? { day: last.day, id: last.id } : null,
  };
}

export async function findRequestLog(
  db: Queryable,
  tenantId: string,
  { days, id }: { days: readonly string[]; id: string },
): Promise<(RequestLog & RequestLogBodies) | undefined> {
  const { rows } = await db.query<LogRow & BodyRow>(
    `select ${COLUMNS}, ${BODY_COLUMNS} from request_logs
     where tenant_id = $1 and day = any ($2::date[]) and id = $3`,
    [tenantId, days, id],
  );
  const [row] = rows;
  return (
    row && {
      ...rowToLog(row),
      requestBody: row.request_body,
      requestBytes: row.request_bytes,
      responseBody: row.response_body,
      responseBytes: row.response_bytes,
    }
  );
}

export async function sumLeftOut(db: Queryable, tenantId: string, since: string): Promise<number> {
  const { rows } = await db.query<{ calls: number }>(
    `select coalesce(sum(calls), 0)::bigint as calls from request_logs_left_out
     where tenant_id = $1 and day >= $2::date`,
    [tenantId, since],
  );
  return rows[0]?.calls ?? 0;
}
