import { addDays, fromNewYork } from '../../services/payments/src/clock/new-york.ts';
import { tenantOf } from '../../services/payments/src/tenant.ts';
import type { Harness } from '../contract/payments/harness.ts';
import { deliver, type Expected, returnLines } from './returns.ts';
import type { WebhookSink } from './webhook-sink.ts';

/*
 * One file of a bank with a thousand returns, of which one is odd: it is put aside alone, its payment completes, and the
 * others come to what they must.
 */

export const CROWD_DAY = '2034-09-05';
export const CROWD_DAYS = 10;
const MAX = 1_000;
const MIN = 12;
const REQUESTS_AT_ONCE = 32;
const AMOUNT = 4_321;

export interface CrowdPayment {
  id: string;
  amount: number;
  expected: Expected;
}

export async function runCrowd(
  harness: Harness,
  { payments, sink, comeToRest }: { payments: number; sink: WebhookSink; comeToRest: () => Promise<void> },
): Promise<CrowdPayment[]> {
  const count = Math.max(MIN, Math.min(MAX, Math.round(payments / 10)));
  const { id: organisationId, test: key } = await harness.organisation();
  const mailbox = tenantOf(organisationId, 'test').id;
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await harness.call('POST', path, { key, body, headers });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const setClock = async (date: string, time: string): Promise<Date> => {
    const now = fromNewYork(date, time);
    await post('/v1/sandbox/clock', { now: now.toISOString() });
    return now;
  };
  await setClock(CROWD_DAY, '09:00');
  await post('/v1/webhook_endpoints', { url: sink.url });
  const { id: balance } = await post('/v1/payment_methods', { type: 'balance' });
  await post(`/v1/sandbox/payment_methods/${balance}/fund`, { amount: count * AMOUNT });
  const pay = async (index: number): Promise<string> => {
    const body = {
      ...{ amount: AMOUNT, currency: 'USD', rail: 'ach', routing: { prefer: 'cost' } },
      ...{ source: { payment_method_id: balance }, destination: { payment_method_id: 'pm_crowd' } },
    };
    return (await post('/v1/payments', body, { 'idempotency-key': `crowd ${index}` })).id;
  };
  const ids: string[] = [];
  while (ids.length < count) {
    const size = Math.min(REQUESTS_AT_ONCE, count - ids.length);
    ids.push(...(await Promise.all(Array.from({ length: size }, (_, n) => pay(ids.length + n)))));
  }
  const evening = await setClock(CROWD_DAY, '23:00');
  await comeToRest();
  const { rows } = await harness.database.query<{ payment_id: string; trace: string; rdfi: string }>(
    `select payment_id, trace, rdfi from ach_entries where tenant_id = $1 and state = 'sent' order by trace`,
    [mailbox],
  );
  if (rows.length !== count) throw new Error(`${rows.length} of ${count} entries of the crowd have left`);
  const odd = rows[Math.floor(count / 2)];
  await harness.database.query(
    `update sandbox_ach_entries set returned_at = $2, return_code = 'R03' where mailbox = $1 and trace <> $3`,
    [mailbox, evening, odd?.trace],
  );
  const lines = rows.map(({ trace, rdfi }) =>
    returnLines({
      ...{ leg: 'credit', trace, rdfi, code: 'R03' },
      amount: trace === odd?.trace ? AMOUNT + 1 : AMOUNT,
    }),
  );
  await deliver(harness.database, mailbox, { name: 'a-thousand.ach', lines, at: evening });
  await setClock(addDays(CROWD_DAY, CROWD_DAYS - 1), '12:00');
  await comeToRest();
  return ids.map((id) => ({
    id,
    amount: AMOUNT,
    expected: {
      history: `pending > processing > ${id === odd?.payment_id ? 'completed' : 'failed'}`,
      loss: null,
    },
  }));
}
