import type { Queryable } from '@libs/db';

/** When the next mail leaves: at once, or a gap after the last one; undefined where one is planned already. */
export async function planMail(
  tx: Queryable,
  { customerId, at, gapMs }: { customerId: string; at: Date; gapMs: number },
): Promise<Date | undefined> {
  const { rows } = await tx.query<{ planned_at: Date }>(
    `insert into approval_mails as m (customer_id, planned_at) values ($1, $2)
     on conflict (customer_id) do update
       set planned_at = greatest(excluded.planned_at, ${laterBy('$3')})
       where m.planned_at <= excluded.planned_at
     returning planned_at`,
    [customerId, at, gapMs],
  );
  return rows[0]?.planned_at;
}

/** Written so that it depends on no time zone: a table that is spread over servers takes nothing else here. */
const laterBy = (ms: string) =>
  `to_timestamp(extract(epoch from m.planned_at - '1970-01-01T00:00:00Z'::timestamptz) + ${ms}::float8 / 1000)`;
