import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '@libs/db';
import { idBorder } from '@libs/seal';
import { fillTimeouts, startDatabase, startService } from '../environment.ts';
import { type Benchmark, median, type Result } from '../result.ts';
import { signUp } from '../visitor.ts';

/** The bar is for a million; the short form keeps the whole run within its minutes. */
const STORED = Number(process.env.BENCH_STORED ?? 100_000);
const FEW = 1_000;
const WARM_UP = 5;
const ROUNDS = 15;
const PAGE_MS_MAX = 100;

interface Member {
  tenantId: string;
  call(path: string): Promise<number>;
}

/** Somebody with an organisation of their own, who has made one payment, and how long a page of theirs waits. */
async function join(url: string): Promise<Member> {
  const { joined, headers, call } = await signUp<{ organisation: { id: string } }>(
    url,
    '/v1/session/signup',
    {
      organisation: 'A',
    },
  );
  const made = await fetch(`${url}/v1/payments`, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': 'first' },
    body: JSON.stringify({
      ...{ amount: 2_500, currency: 'USD', rail: 'rtp', metadata: { order: 'first' } },
      ...{ source: { payment_method_id: 'pm_a' }, destination: { payment_method_id: 'pm_b' } },
    }),
  });
  if (made.status !== 202) throw new Error(`paying answered ${made.status} ${await made.text()}`);
  return { tenantId: `${joined.organisation.id}.test`, call };
}

/** Payments are spread over the hours of a month, and the ids begin with the time, as all ids do. */
const HOURS = 720;
const end = new Date();
const moments = Array.from(
  { length: HOURS },
  (_, hour) => new Date(end.getTime() - (HOURS - hour) * 3_600_000),
);
const times = moments.map((at) => idBorder('x', at.getTime()).slice('x_'.length));

function paymentId(number: number, count: number): string {
  return `pay_${times[Math.floor((number * HOURS) / count)]}${String(number).padStart(16, '0')}`;
}

/** Copies of the one payment with all that belongs to it; one in a hundred failed, one in fifty went by ACH. */
async function fill(database: Database, tenantId: string, count: number): Promise<void> {
  const isThere = async () => {
    const { rows } = await database.query(
      `select 1 from payments where tenant_id = $1 and status = 'completed'`,
      [tenantId],
    );
    return rows.length > 0;
  };
  while (!(await isThere())) await sleep(100);
  const hour = `[1 + i::bigint * ${HOURS} / ${count}]`;
  const time = `($2::text[])${hour}`;
  const at = `($3::timestamptz[])${hour}`;
  const id = `'pay_' || ${time} || lpad(i::text, 16, '0')`;
  const status = `case when i % 100 = 0 then 'failed' else 'completed' end`;
  const rail = `case when i % 50 = 1 then 'ach' else 'rtp' end`;
  const series = `generate_series(1, ${count - 1}) as i`;
  const copies: Record<string, string> = {
    payments: `insert into payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account,
         rail_selected, fallback, metadata, created_at, document)
       select tenant_id, ${id}, ${status}, amount, 'pm_' || i % 1000, 'pm_' || (i + 1) % 1000,
         debit_account, credit_account, ${rail}, fallback, jsonb_build_object('order', i::text),
         ${at}, replace(document, id, ${id})
       from payments, ${series} where tenant_id = $1`,
    payments_uncompleted: `insert into payments_uncompleted (tenant_id, status, id)
       select $1, 'failed', ${id} from ${series} where i % 100 = 0 and $3::timestamptz[] is not null`,
    events: `insert into events (tenant_id, id, type, subject_id, data, occurred_at, created_at)
       select tenant_id, 'evt_' || ${time} || lpad(i::text, 14, '0') || right(id, 2), case when i % 100 = 0 and type = 'payment.completed'
           then 'payment.failed' else type end, ${id},
         replace(data, subject_id, ${id}), ${at}, ${at}
       from events, ${series} where tenant_id = $1 and subject_id like 'pay\\_%'`,
    ledger_transfers: `insert into ledger_transfers (tenant_id, id, payment_id, kind, rail, debit_account, credit_account,
         amount, fee, created_at)
       select tenant_id, 'lt_' || ${time} || lpad(i::text, 15, '0') || left(kind, 1), ${id},
         case when i % 100 = 0 and kind = 'post' then 'release' else kind end, rail, debit_account,
         credit_account, amount, case when i % 100 = 0 then 0 else fee end, ${at}
       from ledger_transfers, ${series} where tenant_id = $1 and payment_id is not null`,
  };
  await Promise.all(
    Object.entries(copies).map(([table, copy]) =>
      database.session(async (session) => {
        await session.query('set synchronous_commit = off');
        // What is copied was checked when it was made: no row is looked at by a trigger again.
        await session.query('set session_replication_role = replica');
        await session.query(copy, [tenantId, times, moments]);
        await session.query(`vacuum analyze ${table}`);
      }),
    ),
  );
}

/** Everything that a page of the dashboard lists, and the filters that people use. */
function pagesOf(count: number): string[] {
  const middle = Math.floor(count / 2) - (Math.floor(count / 2) % 100);
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const payment = paymentId(middle, count);
  return [
    '/v1/overview?days=30',
    '/v1/payments?limit=20',
    '/v1/payments?limit=20&status=failed',
    '/v1/payments?limit=20&status=returned',
    '/v1/payments?limit=20&rail=ach',
    '/v1/payments?limit=20&rail=book',
    '/v1/payments?limit=20&payment_method=pm_500',
    `/v1/payments?limit=20&metadata[order]=${middle}`,
    `/v1/payments?limit=20&id_prefix=${payment}`,
    `/v1/payments?limit=20&${new URLSearchParams({ created_after: daysAgo(20), created_before: daysAgo(19) })}`,
    `/v1/payments?limit=20&refund_of=${payment}`,
    `/v1/payments/${payment}`,
    `/v1/payments/${payment}/messages?limit=100`,
    `/v1/events?limit=50&object_id=${payment}`,
    '/v1/events?limit=20',
    '/v1/events?limit=20&type=payment.failed',
    '/v1/events?limit=20&type=payment.returned',
    '/v1/payment_methods?limit=20',
    // The names of lists of payments.
    '/v1/payment_methods?limit=100',
    '/v1/ledger/entries?limit=20',
    '/v1/ledger/accounts?limit=20',
    `/v1/fees?month=${daysAgo(0).slice(0, 7)}`,
    '/v1/ledger/check',
    `/v1/ledger/entries?limit=20&payment_id=${payment}`,
    '/v1/ledger/entries?limit=20&account_id=pm_none',
    '/v1/ledger/entries?limit=20&account_id=owed_pm_none',
    '/v1/ledger/entries?limit=20&account_id=outside_sources',
    '/v1/webhook_endpoints?limit=20',
    '/v1/keys?limit=20',
    '/v1/request_logs?limit=20',
    '/v1/request_logs?limit=20&path=/v1/none',
    '/v1/session',
    '/v1/members',
  ];
}

/** By turns, so that whatever else the machine does holds up both alike. */
async function timesOf(pages: readonly { member: Member; path: string }[]): Promise<number[]> {
  const times = pages.map((): number[] => []);
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    for (const [index, { member, path }] of pages.entries()) {
      const ms = await member.call(path);
      if (round >= 0) times[index]?.push(ms);
    }
  }
  return times.map(median);
}

export const benchmark: Benchmark = {
  name: 'payments dashboard',
  async run() {
    const server = await startDatabase();
    const service = await startService('payments', { DATABASE_URL: server.url, PAYMENTS_RATE_TEST: '0' });
    const database = await openDatabase({ url: server.url, schema: 'payments', timeouts: fillTimeouts });
    try {
      const [few, many] = [await join(service.url), await join(service.url)];
      const startedAt = performance.now();
      await fill(database, few.tenantId, FEW);
      await fill(database, many.tenantId, STORED);
      console.log(`filled in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
      // What was there before is counted once, when somebody first asks.
      for (const member of [few, many])
        for (const path of ['/v1/overview', '/v1/ledger/accounts', '/v1/ledger/check'])
          console.log(`${path} for the first time: ${Math.round(await member.call(path))} ms`);
      const results: Result[] = [];
      const large = pagesOf(STORED);
      for (const [index, path] of pagesOf(FEW).entries()) {
        const pages = [
          { member: few, path },
          { member: many, path: large[index] as string },
        ];
        const [other = 0, ours = 0] = await timesOf(pages);
        const what = path.replace(/[?&](limit=20|from=[^&]*|to=[^&]*)/g, '').replace('/v1/', '');
        results.push({
          ...{ id: 'D1', what: `${what.slice(0, 44)}`, ours, other, unit: 'ms' },
          bar: { kind: 'at most', value: 1.5 },
        });
      }
      const [slowest] = results.toSorted((one, other) => other.ours - one.ours);
      const what = `slowest of them at ${STORED.toLocaleString('en')} payments: ${slowest?.what}`;
      results.push({
        ...{ id: 'D2', what, ours: slowest?.ours ?? 0, unit: 'ms', other: null },
        bar: { kind: 'at most', value: PAGE_MS_MAX },
      });
      return results;
    } finally {
      await database.close();
      await service.stop();
      await server.stop();
    }
  },
};
