// Live RTP as a bank's gateway sees it: it takes our transfer, says nothing, and delivers the answer by itself.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSelfSigned } from '../../../libs/egress/test/self-signed.ts';
import { businessMessageId, messageId } from '../../../services/payments/src/rails/rtp/identifiers.ts';
import type { CreditTransfer } from '../../../services/payments/src/rails/rtp/messages/credit-transfer.ts';
import { readMessage } from '../../../services/payments/src/rails/rtp/messages/read.ts';
import {
  buildStatusReport,
  reportOn,
} from '../../../services/payments/src/rails/rtp/messages/status-report.ts';
import { ADMIN_TOKEN, type Harness, startHarness } from './harness.ts';

const TOKEN = 'gateway_token_of_the_tests';
const BANK = '011000138';
const rtp = {
  ...{ participant: '091000019T1', network: '990000001T1', routingNumber: '091000019' },
  ...{ accountNumber: '5550001', accountName: 'Acme Inc' },
};
const pair = makeSelfSigned(['localhost']);
let folder: string;
let gateway: Server;
let harness: Harness;
let key: string;
const transfers: CreditTransfer[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'network-rtp-'));
  gateway = createServer(pair, async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const reading = readMessage(Buffer.concat(parts).toString());
    if (reading.ok && reading.message.kind === 'pacs.008') transfers.push(reading.message.transfer);
    response.writeHead(202).end();
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  await writeFile(join(folder, 'ca.crt'), pair.cert);
  await writeFile(join(folder, 'identity.json'), JSON.stringify({ rtp, sponsorRoutingNumbers: [BANK] }));
  harness = await startHarness({
    env: {
      PAYMENTS_RTP_GATEWAY_URL: `https://localhost:${(gateway.address() as AddressInfo).port}/`,
      PAYMENTS_RTP_CA: join(folder, 'ca.crt'),
      PAYMENTS_BANK_IDENTITY: join(folder, 'identity.json'),
      PAYMENTS_RTP_INBOUND_TOKEN: TOKEN,
    },
  });
  key = (await harness.organisation()).live;
});
afterAll(async () => {
  await harness.stop();
  gateway.closeAllConnections();
  gateway.close();
  await rm(folder, { recursive: true });
});

async function account(accountNumber: string): Promise<string> {
  const bank_account = {
    ...{ routing_number: BANK, account_number: accountNumber, account_type: 'checking' },
    ...{ holder_name: 'Ada Lovelace', holder_type: 'individual' },
  };
  const { body } = await harness.call('POST', '/v1/payment_methods', {
    key,
    body: { type: 'bank_account', bank_account },
  });
  return body.id;
}

let payments = 0;
/** A live payment that the gateway has, and its transfer. */
async function sent(): Promise<{ id: string; transfer: CreditTransfer }> {
  payments += 1;
  const before = transfers.length;
  const body = {
    ...{ amount: 2_500, currency: 'USD', rail: 'rtp' },
    source: { payment_method_id: await account(`1000${payments}`) },
    destination: { payment_method_id: await account(`2000${payments}`) },
  };
  const answer = await harness.call('POST', '/v1/payments', {
    key,
    body,
    headers: { 'idempotency-key': `k${payments}` },
  });
  expect(answer.status).toBe(202);
  await expect.poll(() => transfers.length).toBe(before + 1);
  return { id: answer.body.id, transfer: transfers[before] as CreditTransfer };
}

let serial = 0;
function report(transfer: CreditTransfer, status: 'ACTC' | 'RJCT'): string {
  serial += 1;
  const at = transfer.createdAt;
  const id = { date: at.slice(0, 10), participant: rtp.network, source: 'H', serial } as const;
  const header = {
    from: rtp.network,
    to: rtp.participant,
    businessMessageId: businessMessageId(id),
    createdAt: at,
    copy: null,
  };
  const answer = { messageId: messageId(id), createdAt: at, acceptedAt: at, clearingReference: null, status };
  const reason = status === 'RJCT' ? { code: 'AC04', text: null } : null;
  return buildStatusReport(header, reportOn(transfer, { ...answer, reason }));
}

const deliver = (raw: string, token: string | null = TOKEN) =>
  harness.call('POST', '/v1/network/rtp', {
    key: token,
    raw,
    headers: { 'content-type': 'application/xml' },
  });
const statusOf = async (id: string) => (await harness.call('GET', `/v1/payments/${id}`, { key })).body.status;
const quarantine = async () =>
  (await harness.call('GET', '/v1/admin/quarantine', { key: ADMIN_TOKEN })).body.data;

test('[P-5.1] an answer that comes by itself decides the payment, once, however often it is delivered', async () => {
  const { id, transfer } = await sent();
  const message = report(transfer, 'ACTC');
  for (const answer of await Promise.all([deliver(message), deliver(message), deliver(message)]))
    expect(answer.status).toBe(202);
  await expect.poll(() => statusOf(id)).toBe('completed');
  await deliver(message);
  const refused = await sent();
  await deliver(report(refused.transfer, 'RJCT'));
  await expect.poll(() => statusOf(refused.id)).toBe('failed');
  expect(await quarantine()).toEqual([]);
  const messages = await harness.call('GET', `/v1/payments/${id}/messages`, { key });
  expect(messages.body.data.map((one: { kind: string }) => one.kind).sort()).toEqual([
    'pacs.002',
    'pacs.008',
  ]);
});

test('[P-5.2] without its token, or with what is no message of the network, nothing is stored', async () => {
  const { id, transfer } = await sent();
  const message = report(transfer, 'ACTC');
  for (const token of [null, 'wrong', ADMIN_TOKEN, key])
    expect((await deliver(message, token)).status).toBe(401);
  const doctype = message.replace(/(<\?xml[^>]*>)?/, '$1<!DOCTYPE a [<!ENTITY x "y">]>');
  for (const raw of ['', '{}', '<a/>', 'x'.repeat(1_000), doctype, message.slice(0, -20)]) {
    const answer = await deliver(raw);
    expect([answer.status, answer.body.code]).toEqual([400, 'network_message_unknown']);
  }
  const why = async (raw: string) => (await deliver(raw)).body.detail;
  expect(await why(doctype)).toContain('forbidden_markup: DOCTYPE');
  expect(await why(message.replace('>ACTC<', '>OK<'))).toContain('TxInfAndSts/TxSts');
  expect(await why(`<${'x'.repeat(60_000)}/>`)).toContain('wrong_message');
  const long = 'x'.repeat(50_000);
  expect((await why(message.replaceAll('ps:TxSts', `ps:${long}`))).length).toBeLessThan(400);
  expect((await deliver(`<a>${'x'.repeat(10_000_000)}</a>`)).status).toBe(413);
  expect(await statusOf(id)).toBe('processing');
});

test('[P-5.3] a message that fits no payment, or contradicts one, is put aside and moves nothing', async () => {
  const { id, transfer } = await sent();
  const before = (await quarantine()).length;
  const foreign = report({ ...transfer, instructionId: `${transfer.instructionId.slice(0, -3)}999` }, 'ACTC');
  expect((await deliver(foreign)).status).toBe(202);
  expect((await deliver(foreign)).status).toBe(202);
  await expect.poll(async () => (await quarantine()).length).toBe(before + 1);
  await deliver(report({ ...transfer, amountCents: transfer.amountCents + 1 }, 'ACTC'));
  await expect.poll(async () => (await quarantine()).length).toBe(before + 2);
  expect((await quarantine())[0].reason).toMatch(/^mismatched/);
  expect(await statusOf(id)).toBe('processing');
  await deliver(report(transfer, 'ACTC'));
  await expect.poll(() => statusOf(id)).toBe('completed');
  await deliver(report(transfer, 'RJCT'));
  await expect.poll(async () => (await quarantine()).length).toBe(before + 3);
  expect(await statusOf(id)).toBe('completed');
});

test('[P-5.15] what fitted no payment is applied by the operator to the live one that it belongs to', async () => {
  const { id, transfer } = await sent();
  const instructionId = `${transfer.instructionId.slice(0, -3)}998`;
  const known = new Set((await quarantine()).map((one: { id: string }) => one.id));
  await deliver(report({ ...transfer, instructionId }, 'ACTC'));
  const added = async () => (await quarantine()).find((one: { id: string }) => !known.has(one.id))?.id;
  await expect.poll(added).toEqual(expect.any(String));
  const apply = async (payment_id: string) =>
    harness.call('POST', `/v1/admin/quarantine/${await added()}/apply`, {
      key: ADMIN_TOKEN,
      body: { payment_id },
    });
  expect((await apply('pay_nothing')).body.code).toBe('payment_not_found');
  expect((await apply(id)).body).toMatchObject({ status: 'applied', resolution: id });
  expect(await statusOf(id)).toBe('completed');
  expect((await apply(id)).status).toBe(409);
});
