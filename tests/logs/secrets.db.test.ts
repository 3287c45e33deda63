// Both services with the most talkative logs, and secrets in every place where a caller puts them: none may be in the logs.
import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { migrationSource } from '../../services/toolhub/src/schema.ts';
import { findSecrets } from '../../tools/secrets.mjs';
import { send, startLogged } from './process.ts';

const secret = () => randomBytes(24).toString('hex');

let payments: TestDatabase;
let toolhub: TestDatabase;

beforeAll(async () => {
  [payments, toolhub] = await Promise.all([
    createTestDatabase(paymentsMigrations()),
    createTestDatabase(migrationSource),
  ]);
});
afterAll(() => Promise.all([payments.drop(), toolhub.drop()]));

/** Mistakes that callers make with their secrets on any path. */
async function mistakes(url: string, path: string, value: string): Promise<void> {
  await send(`${url}${path}?api_key=${value}&token=${value}`, { method: 'GET' });
  await send(`${url}/nowhere/${value}`, { method: 'GET', headers: { authorization: value } });
  await send(`${url}${path}`, {
    headers: { authorization: `Basic ${btoa(`me:${value}`)}` },
    body: '{"broken":',
  });
  await send(`${url}${path}`, { headers: { authorization: `Bearer ${value}`, cookie: `session=${value}` } });
  await send(`${url}${path}`, { headers: { 'x-api-key': value }, body: `{"password":"${value}"` });
  await send(`${url}${path}`, { method: 'PUT', body: { secret: value, [value]: 1 } });
}

/** Processes take their time on a machine with other work. */
const TIMEOUT_MS = 60_000;

test('payments', { timeout: TIMEOUT_MS }, async () => {
  const known = { admin: secret(), key: randomBytes(32).toString('base64'), number: '604821739455' };
  const service = await startLogged('payments', {
    PAYMENTS_DATABASE_URL: payments.url,
    PAYMENTS_ADMIN_TOKEN: known.admin,
    PAYMENTS_ENCRYPTION_KEY: known.key,
    DATA_DIR: '/nonexistent',
  });
  const admin = { authorization: `Bearer ${known.admin}` };
  const made = await send(`${service.url}/v1/admin/organisations`, {
    headers: admin,
    body: { name: 'Acme' },
  });
  expect(made.status).toBe(201);
  const { keys } = JSON.parse(made.text) as { keys: { test: string; live: string } };
  const bearer = { authorization: `Bearer ${keys.test}` };
  const account = {
    routing_number: '021000021',
    account_number: known.number,
    account_type: 'checking',
    holder_name: 'Ada',
    holder_type: 'individual',
  };
  const post = (path: string, body: unknown) =>
    send(`${service.url}${path}`, { headers: { ...bearer, 'idempotency-key': secret() }, body });
  const method = await post('/v1/payment_methods', { type: 'bank_account', bank_account: account });
  expect(method.status).toBe(201);
  const wrong = { ...account, routing_number: known.number, account_type: known.number };
  expect((await post('/v1/payment_methods', { type: 'bank_account', bank_account: wrong })).status).toBe(422);
  const endpoint = await post('/v1/webhook_endpoints', { url: 'https://receiver.example/hook' });
  expect(endpoint.status).toBe(201);
  const payment = {
    amount: 500,
    currency: 'USD',
    source: { payment_method_id: (JSON.parse(method.text) as { id: string }).id },
    destination: { payment_method_id: 'pm_b' },
    metadata: { note: known.number },
  };
  expect((await post('/v1/payments', payment)).status).toBe(202);
  await mistakes(service.url, '/v1/payments', keys.live);
  const printed = await service.stop();
  expect(printed.split('\n').length).toBeGreaterThan(15);
  const secrets = [
    ...Object.values(known),
    ...Object.values(keys),
    JSON.parse(endpoint.text).secret as string,
  ];
  expect(findSecrets(printed, secrets)).toEqual([]);
});

test('toolhub', { timeout: TIMEOUT_MS }, async () => {
  const known = {
    admin: secret(),
    internal: secret(),
    key: randomBytes(32).toString('base64'),
    password: secret(),
    bot: `4242:${secret()}`,
  };
  const service = await startLogged('toolhub', {
    TOOLHUB_DATABASE_URL: toolhub.url,
    TOOLHUB_ADMIN_TOKEN: known.admin,
    TOOLHUB_INTERNAL_TOKENS: `ops:${known.internal}`,
    TOOLHUB_ENCRYPTION_KEY: known.key,
    DATA_DIR: '/tmp',
  });
  const email = `ada-${randomBytes(4).toString('hex')}@example.com`;
  const origin = { origin: 'https://service.example' };
  const signUp = await send(`${service.url}/api/auth/signup`, {
    headers: origin,
    body: { email, password: known.password, name: 'Ada' },
  });
  expect(signUp.status).toBe(201);
  const session = { ...origin, cookie: signUp.cookie };
  await send(`${service.url}/api/auth/login`, {
    headers: origin,
    body: { email, password: `${known.password}x` },
  });
  const token = await send(`${service.url}/api/tokens`, {
    headers: session,
    body: { name: 'mine', scopes: ['tools:read'] },
  });
  expect(token.status).toBe(201);
  const personal = (JSON.parse(token.text) as { token: string }).token;
  const webhook = await send(`${service.url}/api/webhooks/config`, {
    headers: session,
    body: { webhook_url: 'https://receiver.example/hook' },
  });
  await send(`${service.url}/api/credentials/telegram`, {
    method: 'PUT',
    headers: session,
    body: { bot_token: known.bot },
  });
  await send(`${service.url}/mcp`, {
    headers: { authorization: `Bearer ${personal}`, accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'x', arguments: { password: known.password } },
    },
  });
  await send(`${service.url}/oauth/token`, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `grant_type=refresh_token&refresh_token=${personal}&client_secret=${known.internal}`,
  });
  await send(
    `${service.url}/oauth/authorize?client_id=x&state=${known.password}&code_challenge=${known.internal}`,
    {
      method: 'GET',
    },
  );
  for (const value of [personal, known.admin, known.internal])
    await mistakes(service.url, '/api/account', value);
  const printed = await service.stop();
  expect(printed.split('\n').length).toBeGreaterThan(15);
  const secrets = [...Object.values(known), personal, signUp.cookie.split('=')[1] as string];
  if (webhook.status === 201)
    secrets.push((JSON.parse(webhook.text) as { webhook_secret: string }).webhook_secret);
  expect(findSecrets(printed, secrets)).toEqual([]);
});
