import { type Queryable, queryByTenant, tenantStatement } from '@libs/db';

export interface KeyedCall {
  /** `internal` and the session's name for sessions that belong to no customer. */
  customerId: string;
  tool: string;
  key: string;
}

/** A key as one call has taken it: no other row has the same mark, whatever became of the answer to it. */
export interface Claim extends KeyedCall {
  /** The process, as long as its lease lasts. */
  holder: string;
  claim: string;
}

/** Writes the intent to call. When the key is free again, or undefined where it is taken and has not expired. */
export async function insertIntent(
  db: Queryable,
  call: Claim & { argumentsHash: Buffer; keepMs: number },
): Promise<Date | undefined> {
  const { customerId, tool, key, argumentsHash, holder, claim, keepMs } = call;
  const values = [customerId, tool, key, argumentsHash, holder, claim, keepMs];
  if (!db.isSpread) {
    const { rows } = await db.query<{ expires_at: Date }>(
      { name: 'mcp.insert_intent', text: insertIntentAt('statement_timestamp()') },
      values,
    );
    return rows[0]?.expires_at;
  }
  // A table that is spread takes no clock where it decides on a conflict.
  const clock = await db.query<{ now: Date }>('select statement_timestamp() as now');
  const { rows } = await db.query<{ expires_at: Date }>(
    { name: 'mcp.insert_intent.apart', text: insertIntentAt('$8::timestamptz') },
    [...values, clock.rows[0]?.now],
  );
  return rows[0]?.expires_at;
}

const insertIntentAt = (now: string) => `
insert into idempotent_calls as c (customer_id, tool, key, arguments_hash, holder, claim, expires_at)
values ($1, $2, $3, $4, $5, $6, ${now} + $7 * interval '1 millisecond')
on conflict (customer_id, tool, key) do update set arguments_hash = excluded.arguments_hash,
  holder = excluded.holder, claim = excluded.claim, result = null, expires_at = excluded.expires_at
where c.expires_at <= ${now}
returning expires_at`;

export interface StoredCall {
  argumentsHash: Buffer;
  /** Null while the call runs, and for ever when its process died. */
  result: string | null;
  holderAlive: boolean;
}

export async function findCall(db: Queryable, call: KeyedCall): Promise<StoredCall | null> {
  if (db.isSpread) return findCallApart(db, call);
  const { rows } = await db.query<{ arguments_hash: Buffer; result: string | null; alive: boolean }>(
    {
      name: 'mcp.find_call',
      text: `select c.arguments_hash, c.result, exists (
               select from call_holders h where h.id = c.holder and h.expires_at > statement_timestamp()
             ) as alive
             from idempotent_calls c where c.customer_id = $1 and c.tool = $2 and c.key = $3`,
    },
    [call.customerId, call.tool, call.key],
  );
  const [row] = rows;
  return row === undefined
    ? null
    : { argumentsHash: row.arguments_hash, result: row.result, holderAlive: row.alive };
}

/** Whether the key is taken and has not expired. */
export async function findUnexpired(db: Queryable, call: KeyedCall): Promise<boolean> {
  const { rows } = await db.query(
    `select from idempotent_calls
     where customer_id = $1 and tool = $2 and key = $3 and expires_at > statement_timestamp()`,
    [call.customerId, call.tool, call.key],
  );
  return rows.length > 0;
}

/** Calls and their holders lie on different servers. */
async function findCallApart(db: Queryable, call: KeyedCall): Promise<StoredCall | null> {
  const { rows } = await db.query<{ arguments_hash: Buffer; result: string | null; holder: string }>(
    {
      name: 'mcp.find_call.apart',
      text: `select arguments_hash, result, holder from idempotent_calls
             where customer_id = $1 and tool = $2 and key = $3`,
    },
    [call.customerId, call.tool, call.key],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const holders = await db.query(
    'select from call_holders where id = $1 and expires_at > statement_timestamp()',
    [row.holder],
  );
  return { argumentsHash: row.arguments_hash, result: row.result, holderAlive: holders.rows.length > 0 };
}

export async function storeResults(
  db: Queryable,
  calls: readonly (Claim & { result: string })[],
): Promise<void> {
  await queryByTenant(db, STORE_RESULTS, byTenant(calls), (some) => [
    ...claimColumns(some),
    some.map(({ result }) => result),
  ]);
}

const STORE_RESULTS = tenantStatement(
  'mcp.store_results',
  (customer) => `update idempotent_calls c set result = done.result
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
      as done (customer_id, tool, key, holder, claim, result)
    where c.customer_id = ${customer} and c.tool = done.tool and c.key = done.key
      and c.holder = done.holder and c.claim = done.claim and c.result is null`,
  'done.customer_id',
);

/** Frees the keys of calls that certainly did nothing; how many of them were still taken. */
export async function deleteIntents(db: Queryable, claims: readonly Claim[]): Promise<number> {
  return (await queryByTenant(db, DELETE_INTENTS, byTenant(claims), claimColumns)).length;
}

const DELETE_INTENTS = tenantStatement(
  'mcp.delete_intents',
  (customer) => `delete from idempotent_calls c
    using unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
      as gone (customer_id, tool, key, holder, claim)
    where c.customer_id = ${customer} and c.tool = gone.tool and c.key = gone.key
      and c.holder = gone.holder and c.claim = gone.claim and c.result is null
    returning c.key`,
  'gone.customer_id',
);

function byTenant<Call extends Claim>(calls: readonly Call[]): (Call & { tenantId: string })[] {
  return calls.map((call) => ({ ...call, tenantId: call.customerId }));
}

function claimColumns(claims: readonly Claim[]): string[][] {
  return [
    claims.map(({ customerId }) => customerId),
    claims.map(({ tool }) => tool),
    claims.map(({ key }) => key),
    claims.map(({ holder }) => holder),
    claims.map(({ claim }) => claim),
  ];
}

export async function deleteExpiredCalls(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from idempotent_calls where (customer_id, tool, key) in (
       select customer_id, tool, key from idempotent_calls where expires_at <= statement_timestamp() limit $1
     )`,
    [limit],
  );
  return rowCount;
}
