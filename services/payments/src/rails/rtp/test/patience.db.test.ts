/** Someone was told that the network says nothing; when it speaks at last, the payment moves all the same. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Payment } from '../../../payments/payment.ts';
import type { RtpTransport } from '../lines/transport.ts';
import { readMessage } from '../messages/read.ts';
import { createHarness, type Harness } from './harness.ts';

const policy = {
  inquireAfterMs: 30,
  delayFactor: 1,
  inquiriesMax: 2,
  resendsMax: 0,
  slowDelayMs: 60,
  slowInquiriesMax: 3,
};

let harness: Harness;
let speaksAgain = false;
let questions = 0;

/** Questions are lost until the network speaks again. */
function deaf(transport: RtpTransport): RtpTransport {
  return {
    ...transport,
    async send(messages) {
      const asked = messages.filter(({ xml }) => {
        const reading = readMessage(xml);
        return reading.ok && reading.message.kind === 'pacs.028';
      });
      questions += asked.length;
      if (asked.length === 0 || speaksAgain) return transport.send(messages);
      return messages.map(() => ({ kind: 'unknown', reason: 'TIMEOUT' }));
    },
  };
}

beforeAll(async () => {
  harness = await createHarness({ policy, wrap: deaf });
  await harness.work();
});
afterAll(() => harness.stop());

async function paySilently(): Promise<Payment> {
  const [payment] = await harness.pay([{ destination: 'pm_test_rtp_timeout', rail: 'auto', fallback: true }]);
  return payment as Payment;
}

const alerts = (payment: Payment) =>
  harness.lines.filter(({ fields }) => fields.alert === 'rtp_unknown' && fields.payment === payment.id)
    .length;

const attemptsOf = async (payment: Payment) =>
  (await harness.payment(payment)).attempts.map(({ rail, status }) => `${rail} ${status}`);

test('an answer after the alert settles the payment', async () => {
  const payment = await paySilently();
  await expect.poll(() => alerts(payment), { interval: 5 }).toBe(1);
  expect(await attemptsOf(payment)).toEqual(['rtp unknown']);
  speaksAgain = true;
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp settled']);
  speaksAgain = false;
});

test('the questions come to an end, with a last alert, and the payment is paid no other way', async () => {
  questions = 0;
  const payment = await paySilently();
  await expect.poll(() => alerts(payment)).toBe(2);
  await expect.poll(() => harness.jobsLeft()).toBe(0);
  expect(questions).toBe(policy.inquiriesMax + policy.slowInquiriesMax);
  expect(await attemptsOf(payment)).toEqual(['rtp unknown']);
  expect((await harness.payment(payment)).status).toBe('processing');
  expect(harness.errors).toEqual([]);
});
