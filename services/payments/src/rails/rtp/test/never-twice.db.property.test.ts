/**
 * Whatever is lost, late, repeated or garbled between us and the network: its books show every payment at most once,
 * and a payment that they show as accepted was never given up or paid another way.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Payment } from '../../../payments/payment.ts';
import { createHarness, type Harness } from './harness.ts';
import { createUnreliable, type Plan, plan } from './unreliable.ts';

/** `npm run faults` runs a thousand cases; the short form keeps `npm test` short. */
const CASES = Number(process.env.FAULTS_TIMEOUTS ?? 250);
const PAYMENTS_PER_RUN = 250;
const RUNS = Math.ceil(CASES / PAYMENTS_PER_RUN);
/** How many are submitted, and meet a crash, together. */
const TOGETHER = 5;
/** Nine times what a busy machine was seen to take: a limit for what never ends, not for what is slow. */
const RUN_MS_MAX = 300_000;
/** No more wait than a busy machine gets done while one is waited for. */
const JOBS_WAITING_MAX = 100;

const policy = {
  inquireAfterMs: 40,
  delayFactor: 1.5,
  delayMaxMs: 100,
  inquiriesMax: 4,
  resendAfterInquiries: 2,
  resendsMax: 3,
};

const unreliable = createUnreliable();
let harness: Harness;

beforeAll(async () => {
  harness = await createHarness({
    ...{ policy, wrap: unreliable.wrap },
    wrapHandler: (handler) => unreliable.wrapHandler(handler, harness.database),
  });
  await harness.work();
});
afterAll(() => harness.stop());

/** So much is lost that the questions come to an end without an answer: that end is among the cases of every run. */
const SILENCE: Plan = {
  destination: 'pm_test_rtp_timeout',
  requests: ['lost', 'lost', 'lost'],
  answers: ['lost', 'lost', 'lost'],
};

interface End {
  payment: Payment;
  plan: Plan;
  booked: { status: string; code: string | null }[];
}

async function run(plans: readonly Plan[]): Promise<End[]> {
  const paid: Payment[] = [];
  for (let start = 0; start < plans.length; start += TOGETHER) {
    const group = plans.slice(start, start + TOGETHER);
    const inputs = group.map(({ destination }) => ({ destination, rail: 'auto', fallback: true }) as const);
    // The plans must be known before the first message leaves, which is after the ids are.
    const planFor = (id: string, index: number) => unreliable.plans.set(id, group[index] as Plan);
    paid.push(...(await harness.payNamed(inputs, planFor)));
    await expect.poll(() => harness.jobsLeft(), { interval: 50 }).toBeLessThan(JOBS_WAITING_MAX);
  }
  await expect.poll(() => harness.jobsLeft(), { interval: 50 }).toBe(0);
  await unreliable.calm();
  await expect.poll(() => harness.jobsLeft(), { interval: 50 }).toBe(0);
  const { rows } = await harness.database.query<{
    end_to_end_id: string;
    status: string;
    code: string | null;
  }>('select end_to_end_id, status, code from sandbox_rtp_transfers where end_to_end_id = any($1)', [
    paid.map((payment) => payment.id),
  ]);
  const books = Map.groupBy(rows, (row) => row.end_to_end_id);
  return Promise.all(
    paid.map(async (draft, index) => ({
      payment: await harness.payment(draft),
      plan: plans[index] as Plan,
      booked: (books.get(draft.id) ?? []).map(({ status, code }) => ({ status, code })),
    })),
  );
}

function describeEnd({ payment, booked }: End): string {
  const attempts = payment.attempts.map(({ rail, status }) => `${rail} ${status}`).join(', ');
  return `${payment.status} (${attempts}) with ${booked.map(({ status }) => status).join(' and ') || 'nothing'} booked`;
}

/** Every end that is right. Where the network says nothing, the payment waits, and someone is told. */
const RIGHT_ENDS: ReadonlySet<string> = new Set([
  'completed (rtp settled) with ACTC booked',
  'failed (rtp rejected) with RJCT booked',
  'processing (rtp rejected, ach submitted) with RJCT booked',
  'processing (rtp rejected, ach submitted) with nothing booked',
  'processing (rtp unknown) with ACTC booked',
  'processing (rtp unknown) with RJCT booked',
  'processing (rtp unknown) with nothing booked',
]);

test(`a time-out never pays twice, in ${RUNS * PAYMENTS_PER_RUN} cases`, {
  timeout: RUNS * RUN_MS_MAX,
}, async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: PAYMENTS_PER_RUN, maxLength: PAYMENTS_PER_RUN }),
      async (plans) => {
        for (const end of await run([...plans, SILENCE, SILENCE, SILENCE])) {
          const description = describeEnd(end);
          seen.set(description, (seen.get(description) ?? 0) + 1);
          if (!RIGHT_ENDS.has(description))
            throw new Error(`${description}, after ${JSON.stringify(end.plan)}`);
        }
      },
    ),
    { numRuns: RUNS, endOnFailure: true },
  );
  const { rows } = await harness.database.query<{ id: string }>(
    `select payment_id as id from rtp_submissions where state in ('sent', 'unknown')`,
  );
  const alerts = harness.lines.filter(({ fields }) => fields.alert === 'rtp_unknown');
  const alerted = new Set(alerts.map(({ fields }) => fields.payment));
  expect(rows.filter(({ id }) => !alerted.has(id))).toEqual([]);
  // The cases are worth something only if they lead to every kind of end.
  const kinds = [...seen.keys()];
  expect(kinds).toEqual(expect.arrayContaining([...RIGHT_ENDS].filter((end) => !end.includes('unknown'))));
  expect(kinds.filter((end) => end.includes('unknown'))).not.toEqual([]);
});
