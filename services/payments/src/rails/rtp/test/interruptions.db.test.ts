/** A process that dies while it sends, and one that is too busy to read what has come. */
import type { Handler } from '@libs/jobs';
import { afterEach, expect, test } from 'vitest';
import type { Payment } from '../../../payments/payment.ts';
import type { RtpTransport } from '../lines/transport.ts';
import { ANSWER_JOB } from '../network/network.ts';
import { READ_JOB } from '../work/jobs.ts';
import { createHarness, type Harness, type HarnessOptions } from './harness.ts';

let harness: Harness;
afterEach(() => harness.stop());

async function payOnce(options: HarnessOptions, prepared = ''): Promise<Payment> {
  harness = await createHarness(options);
  await harness.database.query(prepared);
  await harness.work();
  const [payment] = await harness.pay([{}]);
  await expect.poll(async () => (await harness.payment(payment!)).status, { interval: 20 }).toBe('completed');
  return harness.payment(payment!);
}

const kinds = async (payment: Payment) =>
  (await harness.messagesOf(payment)).map(({ direction, kind }) => `${direction} ${kind}`);

test.each([
  ['before', false],
  ['after', true],
])(
  'a process that dies just %s the message has left sends the identical one, marked',
  async (_when, arrives) => {
    let sends = 0;
    const wrap = (transport: RtpTransport): RtpTransport => ({
      ...transport,
      async send(messages) {
        sends += 1;
        if (sends > 1) return transport.send(messages);
        if (arrives) await transport.send(messages);
        throw new Error('the process died');
      },
    });
    const payment = await payOnce({ wrap, answerMs: 2_000, policy: { inquireAfterMs: 60_000 } });
    const sent = (await harness.messagesOf(payment)).filter(({ kind }) => kind === 'pacs.008');
    expect(sent).toHaveLength(2);
    expect(sent[1]?.content.replace('<head:CpyDplct>DUPL</head:CpyDplct>', '')).toBe(sent[0]?.content);
    expect(sent[1]?.content).not.toBe(sent[0]?.content);
    const { rows } = await harness.database.query('select status from sandbox_rtp_transfers');
    expect(rows).toEqual([{ status: 'ACTC' }]);
    expect(payment.timeline).toHaveLength(3);
  },
);

/** The first message arrives, and the process that sent it dies; what it is sent again with is for the test to say. */
const diesAfterSending =
  (again: (transport: RtpTransport) => RtpTransport['send']) =>
  (transport: RtpTransport): RtpTransport => {
    let sends = 0;
    return {
      ...transport,
      async send(messages) {
        sends += 1;
        if (sends > 1) return sends === 2 ? again(transport)(messages) : transport.send(messages);
        await transport.send(messages);
        throw new Error('the process died');
      },
    };
  };

test('[P-4.14] a repeat that does not leave proves nothing: the first may have arrived, and no other rail pays', async () => {
  const neverLeft = { kind: 'never_left', reason: 'ECONNREFUSED' } as const;
  const wrap = diesAfterSending(() => async (messages) => messages.map(() => neverLeft));
  const payment = await payOnce({ wrap, answerMs: 2_000, policy: { inquireAfterMs: 60_000 } });
  expect(payment.attempts).toMatchObject([{ rail: 'rtp', status: 'settled' }]);
});

test('a process that comes back when the network may have forgotten the message does not send it again', async () => {
  const wrap = diesAfterSending((transport) => transport.send);
  const policy = { inquireAfterMs: 60_000, resendWithinMs: 0 };
  const payment = await payOnce({ wrap, answerMs: 2_000, policy });
  expect(await kinds(payment)).toEqual(['out pacs.008', 'in pacs.002']);
});

test.each([
  ['read', READ_JOB],
  ['made', ANSWER_JOB],
])(
  'answers that are late to be %s, behind others, are waited for and not asked after',
  async (_what, name) => {
    const wrapHandler = (handler: Handler): Handler => ({
      ...handler,
      async handle(jobs, context) {
        if (handler.name === name) await new Promise((done) => setTimeout(done, 400));
        await handler.handle(jobs, context);
      },
    });
    const payment = await payOnce({ wrapHandler, policy: { inquireAfterMs: 60 } });
    expect(await kinds(payment)).toEqual(['out pacs.008', 'in pacs.002']);
    expect(payment.attempts).toMatchObject([{ status: 'settled' }]);
  },
);

/** The event is the last that a submission writes. */
const FAILS_ONCE = `
create sequence failures;
create function fail_once() returns trigger language plpgsql as $$
begin
  if nextval('failures') = 1 then raise exception 'the first one fails'; end if;
  return new;
end $$;
create trigger fail_once before insert on events
  for each row when (new.type = 'payment.processing') execute function fail_once()`;

test('a submission that fails at its end has left nothing at the network of the sandbox, and is made again', async () => {
  const payment = await payOnce({ policy: { inquireAfterMs: 60_000 } }, FAILS_ONCE);
  const { rows } = await harness.database.query('select last_value::int as tries from failures');
  expect(rows).toEqual([{ tries: 2 }]);
  expect(await kinds(payment)).toEqual(['out pacs.008', 'in pacs.002']);
  const transfers = await harness.database.query('select end_to_end_id from sandbox_rtp_transfers');
  expect(transfers.rows).toEqual([{ end_to_end_id: payment.id }]);
});
