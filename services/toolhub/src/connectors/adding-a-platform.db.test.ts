// To the service a platform is one folder and one line, which names it in the list; its words for the pages are the dashboard's.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, call, makeToken, signUp } from '../../test/accounts.ts';
import { createToolhubDatabase, INTERNAL_TOKEN, type Instance, startInstance } from '../../test/instance.ts';
import { createPigeonConnector } from '../../test/twelfth-platform/connector.ts';
import { callTool } from '../mcp/test/rig.ts';
import { createConnectors } from './index.ts';

let database: TestDatabase;
let hub: Instance;
let vendor: Server;
let customer: Account;
let token: string;
const letters: { ring: string | undefined; body: unknown }[] = [];

beforeAll(async () => {
  vendor = createServer(async (request, response) => {
    const { authorization } = request.headers;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const isKnown = authorization === 'ring-7';
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    if (isKnown && request.method === 'POST')
      letters.push({ ring: authorization, body: JSON.parse(Buffer.concat(chunks).toString()) });
    response.end(JSON.stringify(isKnown ? { name: 'Gustav', id: `ltr_${letters.length}` } : {}));
  });
  await new Promise<void>((ready) => vendor.listen(0, '127.0.0.1', ready));
  const { port } = vendor.address() as AddressInfo;
  database = await createToolhubDatabase();
  hub = await startInstance(database.url, {
    connectors: [...createConnectors(), createPigeonConnector()],
    env: { TOOLHUB_CONNECTOR_PIGEON_URL: `http://127.0.0.1:${port}` },
  });
  customer = await signUp(hub.url);
  ({ token } = await makeToken(hub.url, customer));
});

afterAll(async () => {
  await hub.stop();
  await database.drop();
  vendor.close();
});

test('[TH-6] its credential is checked at the vendor, stored and shown without the secret', async () => {
  const put = (ring: string) =>
    call(`${hub.url}/api/credentials/pigeon`, {
      method: 'PUT',
      cookie: customer.cookie,
      body: { ring_number: ring },
    });
  expect((await put('ring-8')).body).toMatchObject({ status: 422, code: 'credential_rejected' });
  const stored = await put('ring-7');
  expect(stored).toMatchObject({ status: 200, body: { platform: 'pigeon', account: 'Gustav' } });
  expect(JSON.stringify(stored.body)).not.toContain('ring-7');
});

test('[TH-6.1] its tool is listed, switched, called, metered and audited', async () => {
  const { body } = await call<{ data: { name: string; platform: string }[] }>(`${hub.url}/api/tools`, {
    cookie: customer.cookie,
  });
  expect(body.data).toContainEqual(
    expect.objectContaining({ name: 'pigeon_send_letter', platform: 'pigeon' }),
  );
  const letter = { to: 'Ada', text: 'coo' };
  const answer = await callTool(hub.url, token, 'pigeon_send_letter', letter);
  expect(answer.body.result).toMatchObject({ structuredContent: { letter_id: 'ltr_1' } });
  expect(letters).toEqual([{ ring: 'ring-7', body: letter }]);
  const plan = await call(`${hub.url}/api/plan`, { cookie: customer.cookie });
  expect(plan.body).toMatchObject({ used: 1 });
  const usage = await call(`${hub.url}/api/usage`, { cookie: customer.cookie });
  expect(usage.body).toMatchObject({ data: [{ key: 'pigeon', calls: 1, errors: 0 }] });
  const audit = await call<{ data: { action: string; target: string }[] }>(`${hub.url}/api/audit`, {
    cookie: customer.cookie,
  });
  expect(audit.body.data[0]).toMatchObject({ action: 'tool.call', target: 'pigeon_send_letter' });
});

test('[TH-10] its health is told, and `?platforms=` knows it', async () => {
  const health = await call<{ platforms: { platform: string; status: string }[] }>(
    `${hub.url}/api/health/platforms`,
    { cookie: customer.cookie },
  );
  expect(health.body.platforms).toContainEqual(expect.objectContaining({ platform: 'pigeon', status: 'ok' }));
  const narrowed = await callTool(hub.url, token, 'pigeon_send_letter', {}, { query: '?platforms=pigeon' });
  expect(narrowed.body.result?.structuredContent?.error).toMatchObject({ code: 'invalid_arguments' });
  const away = await callTool(hub.url, token, 'pigeon_send_letter', {}, { query: '?platforms=email' });
  expect(away.body.error?.code).toBe(-32602);
  // No account of it is configured, so internal sessions do not see it.
  const internal = await callTool(hub.url, INTERNAL_TOKEN, 'pigeon_send_letter', {});
  expect(internal.body.error?.code).toBe(-32602);
});
