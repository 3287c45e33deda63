// No transaction writes rows that could commit apart where tables are spread: both services run in the forms for that.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PAYMENTS_TABLES } from '../../services/payments/src/spreading/tables.ts';
import { testPlatform } from '../../services/toolhub/src/mcp/test/platform.ts';
import { callTool } from '../../services/toolhub/src/mcp/test/rig.ts';
import { TOOLHUB_TABLES } from '../../services/toolhub/src/spreading/tables.ts';
import { makeToken, PASSWORD, signUp } from '../../services/toolhub/test/accounts.ts';
import { ADMIN_TOKEN as TOOLHUB_ADMIN_TOKEN } from '../../services/toolhub/test/instance.ts';
import { ADMIN_TOKEN, type Harness, startHarness } from '../contract/payments/harness.ts';
import { type Receiver, startReceiver } from '../contract/payments/receiver.ts';
import { type AccountRig, createAccountRig } from '../contract/toolhub/account-rig.ts';
import { apiOf } from '../contract/toolhub/customer.ts';
import { asIfSpread, dropTriggersOfOneServer, findMixed, noteWritten } from './written.ts';

let harness: Harness;
let receiver: Receiver;
let rig: AccountRig;

beforeAll(async () => {
  receiver = await startReceiver();
  harness = await startHarness({
    env: { PAYMENTS_SANDBOX_RTP_MS: '1', PAYMENTS_SANDBOX_ACH_MS: '1' },
    overhear: asIfSpread,
  });
  await dropTriggersOfOneServer(harness.database, PAYMENTS_TABLES);
  await noteWritten(harness.database, PAYMENTS_TABLES);
  rig = await createAccountRig({ overhear: asIfSpread, connectors: [testPlatform('alpha').connector] });
  await dropTriggersOfOneServer(rig.database, TOOLHUB_TABLES);
  await noteWritten(rig.database, TOOLHUB_TABLES);
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
  await rig.close();
});

const pay = (rail: string, destination: string, key = `${rail} ${destination}`) =>
  harness.call('POST', '/v1/payments', {
    headers: { 'idempotency-key': key },
    body: {
      amount: 100,
      currency: 'USD',
      source: { payment_method_id: 'pm_alice' },
      destination: { payment_method_id: destination },
      rail,
    },
  });
const mixed = () => findMixed(harness.database, PAYMENTS_TABLES);
const mixedOfToolhub = () => findMixed(rig.database, TOOLHUB_TABLES);
const newCaller = async () => {
  const ada = await signUp(rig.url);
  const scopes = ['account:read', 'account:write', 'tools:read', 'tools:write'];
  const { token } = await makeToken(rig.url, ada, { scopes });
  return { token, api: apiOf(rig.url, token) };
};

test.each(['settle', 'reject'])('an outcome that is ordered: %s', async (outcome) => {
  const { body } = await pay('rtp', 'pm_test_rtp_timeout', outcome);
  const isSent = async () =>
    (await harness.call('GET', `/v1/payments/${body.id}`)).body.attempts.at(-1)?.network_reference;
  await expect.poll(isSent).toBeTruthy();
  const ordered = await harness.call('POST', `/v1/sandbox/payments/${body.id}/${outcome}`, {
    headers: { 'idempotency-key': `${outcome} it` },
    body: {},
  });
  expect(ordered.status).toBe(200);
  expect(await mixed()).toEqual([]);
});

test('what was put aside is dismissed', async () => {
  await harness.database.query(
    `insert into rail_quarantine (id, rail, content_sealed, reason, received_at, mode) values ('qua_a', 'rtp', '', 'odd', now(), 'test')`,
  );
  const dismissed = await harness.call('POST', '/v1/admin/quarantine/qua_a/dismiss', {
    ...{ key: ADMIN_TOKEN, headers: { 'idempotency-key': 'dismiss' }, body: { reason: 'sent twice' } },
  });
  expect(dismissed.status).toBe(200);
  expect(await mixed()).toEqual([]);
});

test('payments with webhooks, from request to end', async () => {
  await harness.call('POST', '/v1/webhook_endpoints', { body: { url: `${receiver.url}/hook` } });
  await Promise.all([
    pay('rtp', 'pm_bob'),
    pay('ach', 'pm_bob'),
    pay('rtp', 'pm_test_rtp_reject_ac04'),
    pay('ach', 'pm_test_ach_return_r01'),
  ]);
  const isOver = async () =>
    (await harness.call('GET', '/v1/payments')).body.data.filter(({ status }: { status: string }) =>
      /completed|failed/.test(status),
    ).length;
  await expect.poll(isOver).toBeGreaterThanOrEqual(5);
  expect(await mixed()).toEqual([]);
});

test('a password is changed while a second factor is waited for', async () => {
  const ada = await signUp(rig.url);
  await rig.database.query(
    `insert into passkey_challenges (browser_hash, kind, customer_id, challenge, expires_at)
     values ('a', 'second_factor', $1, 'a', now() + interval '1 hour')`,
    [ada.id],
  );
  const changed = await rig.post(
    '/api/auth/password',
    { current: PASSWORD, new: 'another horse battery' },
    ada,
  );
  expect(changed.status).toBe(204);
  expect((await rig.database.query('select from passkey_challenges')).rows).toEqual([]);
  expect(await mixedOfToolhub()).toEqual([]);
});

test('a tool is called, and the call is counted', async () => {
  const { token, api } = await newCaller();
  expect((await api('PUT', '/api/credentials/alpha?verify=false', {})).status).toBe(200);
  const { body } = await callTool(rig.url, token, 'alpha_get_note', { number: 1 });
  expect(body.result).toMatchObject({ structuredContent: { number: 1 } });
  expect((await api('GET', '/api/plan')).body.used).toBe(1);
  expect(await mixedOfToolhub()).toEqual([]);
});

test('a plan is made and changed, and taken', async () => {
  const edit = (price_cents: number) =>
    apiOf(rig.url, TOOLHUB_ADMIN_TOKEN)('PUT', '/api/admin/plans/small', {
      ...{ name: 'Small', price_cents, included_calls: 10, overage_cents_per_1000: 0, hard_stop: true },
    });
  for (const price of [100, 200]) expect((await edit(price)).status).toBe(200);
  const terms = 'select price_cents from toolhub.plan_terms where plan = $1 order by effective_at';
  expect((await rig.database.query(terms, ['small'])).rows).toEqual([
    { price_cents: 100 },
    { price_cents: 200 },
  ]);
  const { api } = await newCaller();
  expect(await api('PUT', '/api/plan', { plan: 'small' })).toMatchObject({
    status: 200,
    body: { limit: 10 },
  });
  expect(await mixedOfToolhub()).toEqual([]);
});
