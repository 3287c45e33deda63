// Two customers never see each other's anything: every endpoint of the interface and every tool, in any order.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createConnectors } from '../../../services/toolhub/src/connectors/index.ts';
import { type Account, call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { obtainTokens, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { ADMIN_TOKEN, type LoneInstance, startAlone } from '../../../services/toolhub/test/instance.ts';

let instance: LoneInstance;
let url: string;
/** The one with everything. */
let ada: Account;
/** The one who tries. */
let mallory: Account;
let malloryToken: string;
/** What must appear in nothing that Mallory gets. */
let secrets: string[];
/** Ada's ids, by the part of a path that stands before them. */
let owned: Record<string, string>;
let operations: Operation[];
let tools: { name: string }[];

interface Operation {
  method: string;
  path: string;
}

interface OpenApi {
  paths: Record<string, Record<string, { security?: unknown[] }>>;
}

/** Bodies with which the writing endpoints would do something. */
const bodies: Record<string, unknown> = {
  'POST /api/tokens': { name: 'mine' },
  'POST /api/webhooks/config': { webhook_url: 'https://93.184.216.34/mine' },
  'PUT /api/plan': { plan: 'starter', spend_cap_cents: 5_000 },
  'PUT /api/credentials/telegram': { bot_token: '99:other' },
  'PUT /api/tools/{name}': { enabled: false },
  'PUT /api/platforms/{platform}': { enabled: false },
};

beforeAll(async () => {
  instance = await startAlone({
    env: { TOOLHUB_RATE: '0', TOOLHUB_CONNECTOR_TELEGRAM_URL: 'http://127.0.0.1:1' },
  });
  url = instance.url;
  [ada, mallory] = await Promise.all([signUp(url), signUp(url)]);
  const personal = await makeToken(url, ada);
  const client = await registerClient(url, { client_name: 'Client of Ada' });
  const tokens = await obtainTokens(url, ada, client);
  const stored = await call(`${url}/api/credentials/telegram?verify=false`, {
    method: 'PUT',
    cookie: ada.cookie,
    body: { bot_token: '4242424242:ada-secret-bot-token-0123456789ab' },
  });
  expect(stored.status).toBe(200);
  const webhook = await call<{ webhook_secret: string }>(`${url}/api/webhooks/config`, {
    cookie: ada.cookie,
    body: { webhook_url: 'https://93.184.216.34/hooks-of-ada' },
  });
  expect(webhook.status).toBe(201);
  const { rows } = await instance.database.database.query<{ id: string }>(
    'select id from oauth_grants where customer_id = $1',
    [ada.id],
  );
  const grantId = rows[0]?.id ?? '';
  secrets = [ada.id, ada.email, personal.id, personal.token, tokens.access_token, grantId];
  secrets.push(
    '4242424242',
    'ada-secret',
    'Client of Ada',
    'hooks-of-ada',
    'words-of-ada',
    webhook.body.webhook_secret,
  );
  malloryToken = (
    await makeToken(url, mallory, { scopes: ['tools:read', 'tools:write', 'account:read', 'account:write'] })
  ).token;
  owned = { ...(await makeOwned()), tokens: personal.id, clients: grantId };
  const { body } = await call<OpenApi>(`${url}/openapi.json`);
  operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  tools = await listTools(malloryToken);
});

/** One of everything that has an id. */
async function makeOwned(): Promise<Record<string, string>> {
  const asAda = <Body>(method: string, path: string, body?: unknown) =>
    call<Body>(`${url}${path}`, { method, cookie: ada.cookie, ...(body === undefined ? {} : { body }) });
  const delivery = await asAda<{ id: string }>('POST', '/api/webhooks/test');
  const sessions = await asAda<{ data: { id: string }[] }>('GET', '/api/sessions');
  await asAda('PUT', '/api/approvals/rules', { send: true, delete: true, tools: {} });
  const { token } = await makeToken(url, ada);
  const waiting = await rpc(token, 'tools/call', {
    ...{ name: 'telegram_send_message', arguments: { chat_id: '1', text: 'words-of-ada' } },
  });
  const { database: db } = instance.database;
  await db.query(`update customers set plan = 'starter', created_at = '2026-01-01' where id = $1`, [ada.id]);
  await call(`${url}/api/admin/invoices/run`, { token: ADMIN_TOKEN, body: { period: '2026-02' } });
  const invoices = await asAda<{ data: { id: string }[] }>('GET', '/api/invoices');
  await db.query(
    `insert into passkeys (customer_id, id, name, credential_id, public_key, counter, transports, created_at)
     values ($1, $2, 'Ada', 'credential', '', 0, '{}', now())`,
    [ada.id, `psk_${delivery.body.id.slice('dlv_'.length)}`],
  );
  return {
    deliveries: delivery.body.id,
    dlq: delivery.body.id.replace('dlv_', 'dlq_'),
    sessions: sessions.body.data[0]?.id as string,
    approvals: waiting.message.result.structuredContent.error.approval_id,
    invoices: invoices.body.data[0]?.id as string,
    passkeys: `psk_${delivery.body.id.slice('dlv_'.length)}`,
  };
}

afterAll(() => instance.stop());

async function rpc(token: string, method: string, params: Record<string, unknown> = {}, query = '') {
  const answer = await fetch(`${url}/mcp${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await answer.text();
  return { text, message: JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) };
}

/** Of all platforms, connected or not. */
async function listTools(token: string): Promise<{ name: string }[]> {
  const platforms = createConnectors().map(({ id }) => id);
  return (await rpc(token, 'tools/list', {}, `?platforms=${platforms}`)).message.result.tools;
}

/** Ada's ids stand in every place of a path. */
function addressOf(path: string): string {
  const [, , personalId = '', , , grantId = ''] = secrets;
  const values: Record<string, string> = {
    platform: 'telegram',
    name: 'telegram_send_message',
    id: path.startsWith('/api/tokens') ? personalId : path.startsWith('/api/clients') ? grantId : ada.id,
    customerId: ada.id,
  };
  return path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`this test does not know what stands for ${name} in ${path}`);
    return encodeURIComponent(value);
  });
}

const neededQueries: Record<string, string[]> = {
  '/api/usage': ['?from=2000-01-01&to=2000-02-01&group=tool'],
  '/api/plan/preview': ['?plan=scale'],
};
const queries = (path: string): string[] => neededQueries[path] ?? ['', '?limit=100'];

/** Everything that Ada can see of her account. */
async function viewOf(account: Account): Promise<string> {
  // Health is measured anew from time to time, whoever asks.
  const readable = operations.filter(
    ({ method, path }) =>
      method === 'GET' && path.startsWith('/api/') && !/\{|admin|auth|health|^\/api\/export/.test(path),
  );
  const answers = await Promise.all(
    readable.map(({ path }) => call(`${url}${path}${queries(path)[0]}`, { cookie: account.cookie })),
  );
  return JSON.stringify(answers.map(({ status, body }, index) => [readable[index]?.path, status, body]));
}

function expectNothingOfAda(text: string, what: string): void {
  // What the caller itself sent comes back in paths of problems, never as content.
  for (const secret of secrets) expect(text.includes(secret), `${what} shows ${secret}`).toBe(false);
}

async function tryAsMallory({ method, path }: Operation): Promise<void> {
  for (const query of method === 'GET' ? queries(path) : ['']) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : (bodies[`${method} ${path}`] ?? {});
    const answer = await call(`${url}${addressOf(path)}${query}`, { method, body, token: malloryToken });
    expectNothingOfAda(JSON.stringify([answer.body, ...answer.headers]), `${method} ${path}`);
    expect(answer.status).not.toBe(500);
    if (path.startsWith('/api/admin')) expect([path, answer.status]).toEqual([path, 403]);
    const foreignIds = /^\/api\/(tokens|clients|invoices|webhooks\/dlq)\/\{id\}/;
    if (foreignIds.test(path)) expect([path, answer.status]).toEqual([path, 404]);
  }
}

test('[TH-2.4] no endpoint shows or changes what belongs to another customer', async () => {
  const usable = operations.filter(({ path }) => path.startsWith('/api/') && !path.startsWith('/api/auth/'));
  expect(usable.length).toBeGreaterThan(15);
  const before = await viewOf(ada);
  for (const secret of [ada.email, secrets[2] as string]) expect(before).toContain(secret);
  for (const operation of usable) await tryAsMallory(operation);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...usable), { maxLength: 12 }), async (sequence) => {
      for (const operation of sequence) await tryAsMallory(operation);
    }),
    { numRuns: 10 },
  );
  expect(await viewOf(ada)).toBe(before);
});

test('[TH-2.4] every endpoint with an id answers another customer as if the id never was', async () => {
  const withId = operations.filter(({ path }) => path.includes('{id}') && !path.startsWith('/api/admin/'));
  expect(withId.length).toBeGreaterThan(8);
  const before = await viewOf(ada);
  for (const { method, path } of withId) {
    const id = owned[/\/(\w+)\/\{id\}/.exec(path)?.[1] ?? ''];
    expect(id, `${path} has an id of Ada’s`).toBeTruthy();
    const ask = async (one: string, who: { token: string } | { cookie: string }) => {
      const isBare = method === 'GET' || method === 'DELETE';
      const body = path.includes('/passkeys/') ? { password: PASSWORD } : isBare ? undefined : {};
      const answer = await call(`${url}${path.replace('{id}', one)}`, { method, body, ...who });
      const { request_id: _unique, ...words } = answer.body;
      return JSON.stringify([answer.status, words]).replaceAll(one, 'ID');
    };
    for (const who of [{ token: malloryToken }, { cookie: mallory.cookie }]) {
      const foreign = await ask(id as string, who);
      expect(foreign, `${method} ${path}`).toBe(await ask(`${id?.slice(0, -4)}zzzz`, who));
      expect(foreign, `${method} ${path}`).toMatch(/^\[40[34],/);
    }
  }
  expect(await viewOf(ada)).toBe(before);
});

test('[TH-5] no tool reaches the accounts of another customer', async () => {
  expect(tools.length).toBeGreaterThan(10);
  const before = await viewOf(ada);
  for (const { name } of tools) {
    for (const args of [
      {},
      { account: ada.id },
      { platform: 'telegram' },
      { chat_id: '1', text: 'x', customer_id: ada.id },
    ]) {
      const { text } = await rpc(malloryToken, 'tools/call', { name, arguments: args });
      expectNothingOfAda(text, name);
    }
  }
  expectNothingOfAda((await rpc(malloryToken, 'tools/list')).text, 'tools/list');
  expect(await viewOf(ada)).toBe(before);
});

test('[TH-11.31] the file of everything has what is Ada’s and no secret, and is for a person alone', async () => {
  const answer = await fetch(`${url}/api/export`, { headers: { cookie: ada.cookie } });
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="toolhub-.*\.json"$/);
  const text = await answer.text();
  const file = JSON.parse(text);
  expect(file).toMatchObject({
    profile: { id: ada.id, email: ada.email, plan: 'starter' },
    tokens: expect.arrayContaining([expect.objectContaining({ id: secrets[2], name: 'test' })]),
    clients: [{ name: 'Client of Ada' }],
    connections: [{ platform: 'telegram', status: 'connected' }],
    webhook: { webhook_url: 'https://93.184.216.34/hooks-of-ada' },
    ...{
      plan: { plan: 'starter' },
      invoices: [{ id: owned.invoices }],
      approvals: [{ id: owned.approvals }],
      billing_details: { company: null },
      ...{ whatsapp_messages: [], whatsapp_contacts: [], telegram_messages: [], inbound_messages: [] },
      cut_off: [],
    },
  });
  expect(file.sessions.length).toBeGreaterThan(0);
  expect(file.audit.map(({ action }: { action: string }) => action)).toContain('account.created');
  const [, , , personalToken = '', accessToken = ''] = secrets;
  for (const secret of [personalToken, accessToken, 'ada-secret', secrets.at(-1) as string])
    expect(text).not.toContain(secret);
  expect((await call(`${url}/api/export`, { token: personalToken })).status).toBe(403);
  const logged = await call<{ data: { action: string }[] }>(`${url}/api/audit`, { cookie: ada.cookie });
  expect(logged.body.data.map(({ action }) => action)).toContain('account.exported');
});

test('[TH-13.5] admin endpoints: 401 without a token, 403 with a customer’s token or cookie', async () => {
  const admin = operations.filter(({ path }) => path.startsWith('/api/admin/'));
  expect(admin.length).toBeGreaterThan(0);
  for (const { method, path } of admin) {
    const address = `${url}${addressOf(path)}`;
    const body = method === 'GET' ? undefined : {};
    expect((await call(address, { method, body })).status).toBe(401);
    expect((await call(address, { method, body, token: 'tha_wrong' })).status).toBe(401);
    expect((await call(address, { method, body, token: malloryToken })).status).toBe(403);
    expect((await call(address, { method, body, cookie: ada.cookie })).status).toBe(403);
    expect((await call(address, { method, body, token: ADMIN_TOKEN })).status).not.toBeOneOf([401, 403]);
  }
});
