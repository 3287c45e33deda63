// WhatsApp as a whole: a number is connected at the vendor's API, the vendor posts, the customer's webhook is called.
import { createHmac } from 'node:crypto';
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWhatsappConnector } from '../../../services/toolhub/src/connectors/whatsapp/connector.ts';
import {
  type GraphServer,
  startGraph,
} from '../../../services/toolhub/src/connectors/whatsapp/test/graph-server.ts';
import { call, makeToken } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  INTERNAL_TOKEN,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { type Api, apiOf, newCustomer } from './customer.ts';
import { type Received, type Receiver, startReceiver, verify } from './receiver.ts';

const APP_SECRET = 'whatsapp-app-secret';
const VERIFY_TOKEN = 'whatsapp-verify-token';
const CREDENTIAL = '/api/credentials/whatsapp';

let db: TestDatabase;
let graph: GraphServer;
let receiver: Receiver;
let service: Instance;
let bare: Instance;

beforeAll(async () => {
  [db, graph, receiver] = await Promise.all([createToolhubDatabase(), startGraph(), startReceiver()]);
  const env = {
    WHATSAPP_APP_SECRET: APP_SECRET,
    WHATSAPP_VERIFY_TOKEN: VERIFY_TOKEN,
    TOOLHUB_CONNECTOR_WHATSAPP_URL: graph.url,
    TOOLHUB_EGRESS_ALLOW: receiver.place,
  };
  [service, bare] = await Promise.all([startInstance(db.url, { env, jobs: true }), startInstance(db.url)]);
});
afterAll(async () => {
  await Promise.all([service.stop(), bare.stop()]);
  await Promise.all([graph.stop(), receiver.stop()]);
  await db.drop();
});

const sign = (body: string | Buffer) =>
  `sha256=${createHmac('sha256', APP_SECRET).update(body).digest('hex')}`;

function post(body: string | Buffer, signature: string | null = sign(body)) {
  return fetch(`${service.url}/webhooks/whatsapp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(signature === null ? {} : { 'x-hub-signature-256': signature }),
    },
    body: Buffer.from(body),
  });
}

/** Odd spacing, escapes and emoji, as the vendor may send them and as no serializer would write them again. */
const body = (phoneNumberId: string, id: string, text = 'Hi') =>
  `{"object":"whatsapp_business_account",  "entry":[ {"id":"1","changes":[{"field":"messages","value":{"metadata":
    {"phone_number_id":"${phoneNumberId}"},"contacts":[{"wa_id":"4915","profile":{"name":"Zo\\u00eb \\ud83d\\ude00"}}],
    "messages":[{"from":"4915","id":"${id}","timestamp":"1791200000","type":"text","text":{"body":"${text}"}}]}}]}] }`;

let nextNumber = 106540352242900;

/** A number at WhatsApp that nobody has connected yet, and a token that WhatsApp accepts for it. */
function newNumber() {
  nextNumber += 1;
  const id = String(nextNumber);
  const token = `EAAGtoken${id}`;
  graph.addNumber({ id, display: `+1 ${id.slice(-7)}`, tokens: [token] });
  return { id, credential: { access_token: token, phone_number_id: id, business_account_id: '1022' } };
}

interface Listener {
  id: string;
  api: Api;
  token: string;
  /** What arrived at the customer's webhook, each verified. */
  received(): Received[];
  arrivals(count: number): Promise<void>;
}

async function newListener(): Promise<Listener> {
  const customer = await newCustomer(service.url);
  const api = apiOf(service.url, customer.token);
  const path = `/${customer.id}`;
  const { status, body: made } = await api('POST', '/api/webhooks/config', {
    webhook_url: receiver.url + path,
  });
  expect(status).toBe(201);
  const received = () => {
    const all = receiver.at(path);
    for (const one of all) verify(one, made.webhook_secret);
    return all;
  };
  const arrivals = (count: number) =>
    expect.poll(() => receiver.at(path).length, { interval: 20 }).toBe(count);
  return { id: customer.id, api, token: customer.token, received, arrivals };
}

const settled = () =>
  expect
    .poll(
      async () => {
        const { rows } = await db.database.query(
          `select 1 from jobs where name in ('inbound.whatsapp', 'inbound.whatsapp_claimed')`,
        );
        return rows.length;
      },
      { interval: 20 },
    )
    .toBe(0);

async function eventsOf(customerId: string): Promise<unknown[]> {
  const { rows } = await db.database.query('select 1 from events where customer_id = $1', [customerId]);
  return rows;
}

describe('[TH-9] WhatsApp inbound', () => {
  test('[TH-9.1] the subscription check answers the challenge, 403 for another token, 503 where nothing is configured', async () => {
    const query = `hub.mode=subscribe&hub.verify_token=${VERIFY_TOKEN}&hub.challenge=42`;
    const answer = await fetch(`${service.url}/webhooks/whatsapp?${query}`);
    expect([answer.status, await answer.text()]).toEqual([200, '42']);
    const wrong = await fetch(`${service.url}/webhooks/whatsapp?${query.replace(VERIFY_TOKEN, 'x')}`);
    expect(wrong.status).toBe(403);
    expect(wrong.headers.get('content-type')).toContain('application/problem+json');
    for (const init of [{}, { method: 'POST', body: '{}' }])
      expect((await fetch(`${bare.url}/webhooks/whatsapp?${query}`, init)).status).toBe(503);
  });

  test('[TH-9.3] five times the same odd bytes are kept as they came and reach the webhook once, signed', async () => {
    const ada = await newListener();
    const number = newNumber();
    expect((await ada.api('PUT', CREDENTIAL, number.credential)).status).toBe(200);
    const text = body(number.id, 'wamid.1', 'Gr\\u00fc\\u00dfe \\/ \u{1f389} e\u0301');
    for (let time = 0; time < 5; time += 1) {
      const answer = await post(text);
      expect([answer.status, await answer.text()]).toEqual([200, '']);
    }
    await ada.arrivals(1);
    await settled();
    const { rows } = await db.database.query<{ body: Buffer }>('select body from whatsapp_inbox');
    expect(rows.map((row) => row.body.toString('utf8'))).toEqual(Array(5).fill(text));
    expect(await eventsOf(ada.id)).toHaveLength(1);
    expect(ada.received().map((one) => one.body)).toEqual([
      {
        type: 'whatsapp.message.received',
        timestamp: expect.stringMatching(/Z$/),
        data: {
          phone_number_id: number.id,
          from: '4915',
          message: {
            from: '4915',
            id: 'wamid.1',
            timestamp: '1791200000',
            type: 'text',
            text: { body: 'Grüße / \u{1f389} e\u0301' },
          },
          contact: { wa_id: '4915', profile: { name: 'Zoë 😀' } },
        },
      },
    ]);
  });

  test('[TH-9.2] one changed byte, or no signature, is 401 and nothing is kept', async () => {
    const text = Buffer.from(body('1', 'wamid.forged'));
    const changed = Buffer.from(text);
    const last = changed.length - 1;
    changed[last - 1] = 9; // The space before the last brace becomes a tab: the JSON says the same, the bytes do not.
    const answer = await post(changed, sign(text));
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      401,
      'invalid_signature',
    ]);
    expect(answer.headers.get('www-authenticate')).not.toBeNull();
    expect((await post(text, null)).status).toBe(401);
    const { rows } = await db.database.query('select 1 from whatsapp_inbox where body = any($1)', [
      [text, changed],
    ]);
    expect(rows).toEqual([]);
  });

  test('[TH-9.4] what came for an unknown number reaches the customer that connects it later', async () => {
    const number = newNumber();
    for (const id of ['wamid.a', 'wamid.b', 'wamid.a']) await post(body(number.id, id));
    await settled();
    const ada = await newListener();
    expect(await eventsOf(ada.id)).toEqual([]);
    expect((await ada.api('PUT', CREDENTIAL, number.credential)).status).toBe(200);
    await ada.arrivals(2);
    await settled();
    expect(await eventsOf(ada.id)).toHaveLength(2);
    const ids = ada.received().map((one) => one.body.data.message.id);
    expect(ids.sort()).toEqual(['wamid.a', 'wamid.b']);
  });
});

describe('[TH-13] a WhatsApp number', () => {
  test('is stored after WhatsApp confirmed it, and its token is shown nowhere', async () => {
    const ada = await newListener();
    const number = newNumber();
    const put = await ada.api('PUT', CREDENTIAL, number.credential);
    expect(put).toMatchObject({
      status: 200,
      body: {
        platform: 'whatsapp',
        status: 'connected',
        expires_at: null,
        account: `+1 ${number.id.slice(-7)}`,
      },
    });
    expect(Object.keys(put.body).sort()).toEqual([
      'account',
      'expires_at',
      'platform',
      'status',
      'updated_at',
    ]);
    const listed = await ada.api('GET', '/api/credentials');
    expect(listed.body.data).toEqual([put.body]);
    expect(JSON.stringify([put, listed])).not.toContain(number.credential.access_token);
  });

  test('that WhatsApp does not confirm, or need not, is 422 and nobody’s', async () => {
    const ada = await newListener();
    const number = newNumber();
    const asked = graph.calls.length;
    const unchecked = await ada.api('PUT', `${CREDENTIAL}?verify=false`, number.credential);
    expect([unchecked.status, unchecked.body.code]).toEqual([422, 'verification_required']);
    expect(graph.calls).toHaveLength(asked);
    const foreign = { ...number.credential, access_token: newNumber().credential.access_token };
    const refused = await ada.api('PUT', CREDENTIAL, foreign);
    expect([refused.status, refused.body.code]).toEqual([422, 'credential_rejected']);
    graph.failNext({ kind: 'status', status: 503 });
    const away = await ada.api('PUT', CREDENTIAL, number.credential);
    expect([away.status, away.body.code]).toEqual([422, 'platform_unreachable']);
    expect((await ada.api('GET', '/api/credentials')).body.data).toEqual([]);
    await post(body(number.id, 'wamid.secret'));
    await settled();
    expect(await eventsOf(ada.id)).toEqual([]);
    for (const bad of [{}, { ...number.credential, phone_number_id: '../x' }, { ...number.credential, x: 1 }])
      expect((await ada.api('PUT', CREDENTIAL, bad)).status).toBe(422);
  });

  test('[TH-9.5] of one customer is 409 for another, who keeps what was connected before, until it is given up', async () => {
    const [ada, bob] = [await newListener(), await newListener()];
    const [hers, his] = [newNumber(), newNumber()];
    expect((await ada.api('PUT', CREDENTIAL, hers.credential)).status).toBe(200);
    expect((await bob.api('PUT', CREDENTIAL, his.credential)).status).toBe(200);
    // Both have access to it at WhatsApp, as two services of one business do.
    graph.addNumber({
      ...{ id: hers.id, display: '+1 5550100' },
      tokens: [hers.credential.access_token, his.credential.access_token],
    });
    const claim = { ...his.credential, phone_number_id: hers.id };
    const taken = await bob.api('PUT', CREDENTIAL, claim);
    expect([taken.status, taken.body.code]).toEqual([409, 'phone_number_taken']);
    await Promise.all([post(body(hers.id, 'wamid.hers')), post(body(his.id, 'wamid.his'))]);
    await Promise.all([ada.arrivals(1), bob.arrivals(1)]);
    expect(ada.received()[0]?.body.data.message.id).toBe('wamid.hers');
    expect(bob.received()[0]?.body.data.message.id).toBe('wamid.his');

    expect((await ada.api('PUT', CREDENTIAL, hers.credential)).status).toBe(200);
    expect((await ada.api('DELETE', CREDENTIAL)).status).toBe(204);
    expect((await ada.api('DELETE', CREDENTIAL)).status).toBe(404);
    await post(body(hers.id, 'wamid.between'));
    await settled();
    expect((await bob.api('PUT', CREDENTIAL, claim)).status).toBe(200);
    await bob.arrivals(2);
    expect(bob.received()[1]?.body.data.message.id).toBe('wamid.between');
    expect(await eventsOf(ada.id)).toHaveLength(1);
    const audit = await bob.api('GET', '/api/audit?limit=100');
    const outcomes = audit.body.data
      .filter(({ target }: { target: string }) => target === 'whatsapp')
      .map(({ outcome }: { outcome: string }) => outcome);
    expect(outcomes.sort()).toEqual(['refused', 'success', 'success']);
  });

  test('of ten customers that connect it at once goes to one', async () => {
    const number = newNumber();
    const customers = await Promise.all(Array.from({ length: 10 }, () => newCustomer(service.url)));
    const answers = await Promise.all(
      customers.map(({ token }) => apiOf(service.url, token)('PUT', CREDENTIAL, number.credential)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
  });
});

describe('[TH-6] a platform without tools', () => {
  async function toolNames(token: string, query = ''): Promise<{ status: number; names?: string[] }> {
    const answer = await call<{ result?: { tools: { name: string }[] } }>(`${service.url}/mcp${query}`, {
      token,
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    });
    const names = answer.body.result?.tools.map(({ name }) => name);
    return { status: answer.status, ...(names === undefined ? {} : { names }) };
  }

  test('is listed, narrowed to, switched and probed like any other', async () => {
    const account = await newCustomer(service.url);
    const api = apiOf(service.url, account.token);
    const made = await makeToken(service.url, account, { scopes: ['tools:read', 'tools:write'] });
    const accountTools = ['accounts_list', 'accounts_check_health'];
    const own = createWhatsappConnector().tools.map(({ name }) => name);
    const names = [...accountTools, ...own];
    expect(await toolNames(made.token, '?platforms=whatsapp')).toEqual({ status: 200, names });
    const telegram =
      (await toolNames(made.token, '?platforms=telegram')).names?.slice(accountTools.length) ?? [];
    expect((await toolNames(made.token, '?platforms=telegram,whatsapp')).names).toEqual([
      ...names,
      ...telegram,
    ]);
    expect((await toolNames(made.token, '?platforms=nothing')).status).toBe(400);
    expect((await toolNames(INTERNAL_TOKEN, '?platforms=whatsapp')).names).toEqual(accountTools);
    const off = await api('PUT', '/api/platforms/whatsapp', { enabled: false });
    expect(off).toMatchObject({ status: 200, body: { platform: 'whatsapp', enabled: false } });
    const { body: tools } = await api('GET', '/api/tools');
    expect(tools.platforms).toContainEqual({ platform: 'whatsapp', title: 'WhatsApp', enabled: false });

    const number = newNumber();
    await api('PUT', CREDENTIAL, number.credential);
    const health = async () =>
      (await api('GET', '/api/health/platforms')).body.platforms.find(
        ({ platform }: { platform: string }) => platform === 'whatsapp',
      );
    expect(await health()).toMatchObject({ status: 'ok', token_expires_at: null });
    await api('PUT', CREDENTIAL, number.credential);
    graph.revoke(number.credential.access_token);
    expect(await health()).toMatchObject({ status: 'token_expired' });
    expect(await eventsOf(account.id)).toHaveLength(1);
  });
});
