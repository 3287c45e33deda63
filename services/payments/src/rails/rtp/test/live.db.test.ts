/** Live payments over the real gateway transport, with a TLS server in the place of the bank's. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { makeSelfSigned } from '../../../../../../libs/egress/test/self-signed.ts';
import type { Payment } from '../../../payments/payment.ts';
import { businessMessageId, messageId } from '../identifiers.ts';
import { liveConnection, SANDBOX_IDENTITY } from '../lines/connection.ts';
import { createRtpGateway, type RtpGateway } from '../lines/gateway.ts';
import type { TransferReference } from '../messages/credit-transfer.ts';
import { type AnyMessage, readMessage } from '../messages/read.ts';
import { buildStatusReport, reportOn, type TransactionStatus } from '../messages/status-report.ts';
import { LIVE_POLICY } from '../submissions/submission.ts';
import { createHarness, type Harness, liveTenant } from './harness.ts';

const identity = { ...SANDBOX_IDENTITY, participant: '021000089T1', network: '990000009T1' };
const pair = makeSelfSigned(['localhost']);

let folder: string;
let bank: Server;
let gateway: RtpGateway;
let harness: Harness;
let arrived: AnyMessage[] = [];
let react: (message: AnyMessage, response: ServerResponse) => void;
let serial = 0;

function report(transfer: TransferReference, status: TransactionStatus, code: string | null = null): string {
  serial += 1;
  const at = transfer.createdAt;
  const id = { date: at.slice(0, 10), participant: identity.network, source: 'H', serial } as const;
  const header = {
    from: identity.network,
    to: identity.participant,
    businessMessageId: businessMessageId(id),
    createdAt: at,
    copy: null,
  };
  const answer = { messageId: messageId(id), createdAt: at, acceptedAt: at, clearingReference: null, status };
  const reason = status === 'RJCT' ? { code, text: null } : null;
  return buildStatusReport(header, reportOn(transfer, { ...answer, reason }));
}

const accept: typeof react = (message, response) => {
  const transfer = message.kind === 'pacs.028' ? message.request.transfer : transferIn(message);
  response.writeHead(200).end(report(transfer, 'ACTC'));
};

function transferIn(message: AnyMessage): TransferReference {
  if (message.kind !== 'pacs.008') throw new Error('not a transfer');
  return message.transfer;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtp-live-'));
  await writeFile(join(folder, 'pair.crt'), pair.cert);
  await writeFile(join(folder, 'pair.key'), pair.key);
  bank = createServer(
    { ...pair, ca: [pair.cert], requestCert: true, rejectUnauthorized: true },
    async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const reading = readMessage(Buffer.concat(parts).toString());
      if (!reading.ok) throw new Error('the bank cannot read what it got');
      arrived.push(reading.message);
      react(reading.message, response);
    },
  );
  bank.listen(0, '127.0.0.1');
  await once(bank, 'listening');
  gateway = await createRtpGateway({
    url: `https://localhost:${(bank.address() as AddressInfo).port}/`,
    certificatePath: join(folder, 'pair.crt'),
    keyPath: join(folder, 'pair.key'),
    authorityPath: join(folder, 'pair.crt'),
    connectRetryMs: 1,
    timeoutMs: 1_000,
  });
  const policy = { ...LIVE_POLICY, inquireAfterMs: 500, delayFactor: 1 };
  harness = await createHarness({ live: { ...liveConnection(identity, gateway), policy } });
  await harness.work();
});
afterAll(async () => {
  await harness.stop();
  gateway.close();
  bank.closeAllConnections();
  bank.close();
  await rm(folder, { recursive: true });
});
afterEach(() => {
  arrived = [];
});

async function pay(): Promise<Payment> {
  const [payment] = await harness.pay([{ tenant: liveTenant, rail: 'auto', fallback: true }]);
  return payment as Payment;
}

const attemptsOf = async (payment: Payment) =>
  (await harness.payment(payment)).attempts.map(({ rail, status }) => `${rail} ${status}`);

test('a payment is accepted in the answer to its message', async () => {
  react = accept;
  const payment = await pay();
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp settled']);
  expect((await harness.payment(payment)).status).toBe('completed');
  const kinds = (await harness.messagesOf(payment)).map(({ kind }) => kind);
  // A busy machine may have asked before it had read the answer.
  expect(kinds.filter((kind) => kind !== 'pacs.028')).toEqual(['pacs.008', 'pacs.002']);
  await expect.poll(() => harness.health.successes).toBeGreaterThan(0);
});

test('one that fails on the way is asked after and stays unknown until the bank says', async () => {
  react = (message, response) => {
    if (message.kind === 'pacs.008') response.writeHead(503).end();
    else if (arrived.length < 3) response.writeHead(202).end();
    else accept(message, response);
  };
  const payment = await pay();
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp settled']);
  expect(arrived.map(({ kind }) => kind)).toEqual(['pacs.008', 'pacs.028', 'pacs.028']);
  expect(harness.health.failures).toContain('unreachable');
});

test('the identical message goes out again, marked, when questions are not answered', async () => {
  react = (message, response) => {
    if (arrived.length < 4) response.writeHead(202).end();
    else accept(message, response);
  };
  const payment = await pay();
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp settled']);
  expect(arrived.map(({ kind }) => kind)).toEqual(['pacs.008', 'pacs.028', 'pacs.028', 'pacs.008']);
  expect(arrived[3]).toEqual(arrived[0]);
  const sent = (await harness.messagesOf(payment)).filter(({ kind }) => kind === 'pacs.008');
  expect(sent.map(({ content }) => content.includes('>DUPL<'))).toEqual([false, true]);
});

test('an answer that comes after we stopped waiting is heard by asking, and counts once', async () => {
  const DECIDED_AFTER_MS = 1_300;
  const startedAt = Date.now();
  react = (message, response) => {
    const isDecided = Date.now() - startedAt >= DECIDED_AFTER_MS;
    if (message.kind === 'pacs.008') setTimeout(() => accept(message, response), DECIDED_AFTER_MS);
    else if (isDecided) accept(message, response);
    else response.writeHead(202).end();
  };
  const payment = await pay();
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp unknown']);
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp settled']);
  expect(arrived.slice(0, 2).map(({ kind }) => kind)).toEqual(['pacs.008', 'pacs.028']);
  const { rows } = await harness.database.query(
    'select kind from ledger_transfers where payment_id = $1 order by id',
    [payment.id],
  );
  expect(rows).toEqual([{ kind: 'hold' }, { kind: 'post' }]);
});

test('so is a late refusal, and only then ACH takes over', async () => {
  react = (message, response) => {
    // The network does not know the transfer's fate before the third question.
    if (message.kind !== 'pacs.028') return;
    const asked = arrived.filter(({ kind }) => kind === 'pacs.028').length;
    if (asked < 3) response.writeHead(202).end();
    else response.writeHead(200).end(report(message.request.transfer, 'RJCT', 'RC04'));
  };
  const payment = await pay();
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp unknown']);
  expect(await attemptsOf(payment)).toHaveLength(1);
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp rejected', 'ach submitted']);
});

test('a network that is signed off is reported, and the payment goes by ACH; a bank in it proves nothing alone', async () => {
  harness.health.failures.length = 0;
  harness.health.decisive.length = 0;
  for (const code of ['9948', '9912']) {
    react = (message, response) => response.writeHead(200).end(report(transferIn(message), 'RJCT', code));
    const payment = await pay();
    await expect.poll(() => attemptsOf(payment)).toEqual(['rtp rejected', 'ach submitted']);
  }
  await expect.poll(() => harness.health.failures).toEqual(['signed_off', 'signed_off']);
  expect(harness.health.decisive).toEqual([true, false]);
});

test('a refusal without a reason is final, and nobody makes a code up', async () => {
  react = (message, response) => response.writeHead(200).end(report(transferIn(message), 'RJCT'));
  const payment = await pay();
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp rejected']);
  expect(await harness.payment(payment)).toMatchObject({
    status: 'failed',
    attempts: [{ code: null }],
    failure: { code: 'rejected_by_network', network_code: null },
  });
});

test('a gateway that is not there gives the payment back to ACH', async () => {
  bank.closeAllConnections();
  bank.close();
  await once(bank, 'close');
  const payment = await pay();
  await expect.poll(() => attemptsOf(payment)).toEqual(['rtp rejected', 'ach submitted']);
  expect((await harness.payment(payment)).attempts[0]).toMatchObject({ code: null });
  const { rows } = await harness.database.query('select state from rtp_submissions where payment_id = $1', [
    payment.id,
  ]);
  expect(rows).toEqual([{ state: 'not_sent' }]);
  expect(arrived).toEqual([]);
});

test('nothing was put aside, and nothing failed', async () => {
  expect(await harness.quarantine()).toEqual([]);
  expect(harness.errors).toEqual([]);
});
