// Long lists over HTTP: what a session sees by default, how it searches instead, and how it hears of a change. Two
// processes on one database, since a connection that is made in one changes the list in the other.
import type { TestDatabase } from '@libs/db/testing';
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callTool, type RpcAnswer, rpc } from '../../../services/toolhub/src/mcp/test/rig.ts';
import { makeToken } from '../../../services/toolhub/test/accounts.ts';
import {
  createToolhubDatabase,
  INTERNAL_TOKEN,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { type Api, apiOf, type Customer, newCustomer } from './customer.ts';

let db: TestDatabase;
let here: Instance;
let there: Instance;

beforeAll(async () => {
  db = await createToolhubDatabase();
  here = await startInstance(db.url);
  there = await startInstance(db.url);
});
afterAll(async () => {
  await here?.stop();
  await there?.stop();
  await db?.drop();
});

const ACCOUNT_TOOLS = ['accounts_list', 'accounts_check_health'];
const SEARCH = { query: '?mode=search' };

interface Person extends Customer {
  tools: string;
  api: Api;
}

async function newPerson(scopes = ['tools:read', 'tools:write']): Promise<Person> {
  const customer = await newCustomer(here.url);
  const { token: tools } = await makeToken(here.url, customer, { scopes });
  return { ...customer, tools, api: apiOf(here.url, customer.token) };
}

const connect = ({ api }: Person, platform = 'slack') =>
  api('PUT', `/api/credentials/${platform}?verify=false`, { access_token: 'xoxb-made-up' });

async function names(url: string, token: string, query = ''): Promise<string[]> {
  const { body } = await rpc(url, token, { method: 'tools/list' }, { query });
  return (body.result?.tools ?? []).map(({ name }) => name);
}
const platformsIn = (listed: readonly string[]) => [...new Set(listed.map((name) => name.split('_')[0]))];
const errorOf = ({ body }: RpcAnswer) => body.result?.structuredContent?.error;

describe('by default', () => {
  test('[TH-11.2] the tools of connected platforms are listed, in every process, until they are disconnected', async () => {
    const ada = await newPerson();
    expect(await names(here.url, ada.tools)).toEqual(ACCOUNT_TOOLS);
    expect(await names(there.url, ada.tools)).toEqual(ACCOUNT_TOOLS);
    expect((await connect(ada)).status).toBe(200);
    const listed = await names(here.url, ada.tools);
    expect(platformsIn(listed)).toEqual(['accounts', 'slack']);
    await withinASecond(
      () => names(there.url, ada.tools),
      (answer) => expect(answer).toEqual(listed),
    );
    await ada.api('PUT', '/api/tools/slack_delete_message', { enabled: false });
    const fewer = listed.filter((name) => name !== 'slack_delete_message');
    expect(await names(here.url, ada.tools)).toEqual(fewer);
    await ada.api('DELETE', '/api/credentials/slack');
    expect(await names(here.url, ada.tools)).toEqual(ACCOUNT_TOOLS);
    await withinASecond(
      () => names(there.url, ada.tools),
      (answer) => expect(answer).toEqual(ACCOUNT_TOOLS),
    );
  });

  test('[TH-11.2] a call of a tool that is not listed says how to connect; one that is switched off does not exist', async () => {
    const ada = await newPerson();
    for (const era of ['modern', 'legacy'] as const) {
      const called = await callTool(here.url, ada.tools, 'slack_list_channels', {}, { era });
      expect(errorOf(called)).toMatchObject({
        code: 'not_connected',
        connect_url: expect.stringContaining('slack'),
      });
    }
    await ada.api('PUT', '/api/platforms/slack', { enabled: false });
    const { body } = await callTool(here.url, ada.tools, 'slack_list_channels');
    expect(body.error?.code).toBe(-32602);
  });

  test('[TH-5.8] platforms that the address names are listed whether or not they are connected', async () => {
    const ada = await newPerson();
    await connect(ada);
    expect(platformsIn(await names(here.url, ada.tools, '?platforms=x,slack'))).toEqual([
      'accounts',
      'slack',
      'x',
    ]);
    expect(platformsIn(await names(here.url, ada.tools, '?platforms=x'))).toEqual(['accounts', 'x']);
  });

  test('[TH-13.8] internal sessions list configured platforms alone, and search those', async () => {
    expect(await names(here.url, INTERNAL_TOKEN)).toEqual(ACCOUNT_TOOLS);
    const found = await callTool(
      here.url,
      INTERNAL_TOKEN,
      'tools_search',
      { query: 'send a message' },
      SEARCH,
    );
    expect(found.body.result?.structuredContent).toEqual({ items: [] });
  });
});

describe('?mode=search', () => {
  test('[TH-11.3] lists four tools, finds the others with their schemas, and calls them', async () => {
    const ada = await newPerson();
    await connect(ada);
    const { body } = await rpc(here.url, ada.tools, { method: 'tools/list' }, SEARCH);
    expect(body.result?.tools?.map(({ name }) => name)).toEqual([
      ...ACCOUNT_TOOLS,
      'tools_search',
      'tools_call',
    ]);
    for (const era of ['modern', 'legacy'] as const) {
      const options = { ...SEARCH, era };
      const found = await callTool(
        here.url,
        ada.tools,
        'tools_search',
        { query: 'send a message', platform: 'slack', limit: 2 },
        options,
      );
      const content = found.body.result?.structuredContent ?? {};
      const items = content.items as Record<string, unknown>[];
      expect(items).toHaveLength(2);
      expect(Object.keys(items[0] ?? {}).sort()).toEqual(['description', 'input_schema', 'name', 'title']);
      expect(items[0]).toMatchObject({
        name: 'slack_send_message',
        input_schema: { type: 'object', required: ['channel', 'text'] },
      });
      const list = await callTool(here.url, ada.tools, 'tools_call', { name: 'accounts_list' }, options);
      expect(list.body.result?.structuredContent).toMatchObject({ items: [{ platform: 'slack' }] });
    }
  });

  test('[TH-11.3] every rung holds for the tool that is meant, and the audit names it', async () => {
    const ada = await newPerson();
    const through = (args: Record<string, unknown>, token = ada.tools) =>
      callTool(here.url, token, 'tools_call', args, SEARCH);
    const direct = await callTool(here.url, ada.tools, 'telegram_get_chat', { chat_id: 1 });
    const meant = { name: 'telegram_get_chat', arguments: { chat_id: 1 } };
    expect((await through(meant)).body.result).toEqual(direct.body.result);
    expect(errorOf(direct)).toMatchObject({ code: 'not_connected' });

    const bad = { name: 'telegram_send_message', arguments: { chat_id: 1, text: 7 } };
    expect(errorOf(await through(bad))).toMatchObject({
      code: 'invalid_arguments',
      errors: [{ pointer: '/text' }],
    });
    const surrogate = { name: 'telegram_send_message', arguments: { chat_id: 1, text: '\ud800' } };
    expect(errorOf(await through(surrogate))).toMatchObject({ errors: [{ pointer: '/text' }] });

    const reader = await makeToken(here.url, ada, { scopes: ['tools:read'] });
    const send = { name: 'telegram_send_message', arguments: { chat_id: 1, text: 'x' } };
    expect((await through(send, reader.token)).status).toBe(403);
    expect((await through(meant, reader.token)).status).toBe(200);

    await ada.api('PUT', '/api/tools/telegram_delete_message', { enabled: false });
    const off = { name: 'telegram_delete_message', arguments: { chat_id: 1, message_id: 1 } };
    for (const args of [
      off,
      { name: 'no_such_tool' },
      { name: 'tools_call', arguments: meant },
      {},
      { name: 7 },
    ])
      expect(errorOf(await through(args)), JSON.stringify(args)).toMatchObject({ code: 'invalid_arguments' });

    const { body } = await ada.api('GET', '/api/audit?limit=100');
    const calls = (body.data as { action: string; target: string; outcome: string }[]).filter(
      ({ action }) => action === 'tool.call',
    );
    expect(calls.filter(({ target }) => target === 'telegram_get_chat')).toHaveLength(3);
    expect(calls).toContainEqual(
      expect.objectContaining({ target: 'telegram_send_message', outcome: 'refused' }),
    );
    const usage = await ada.api('GET', '/api/usage?group=tool');
    expect((usage.body.data as { key: string }[]).map(({ key }) => key)).toEqual(['telegram_get_chat']);
  });

  test('[TH-11.3] another mode is 400, and without the mode the two tools do not exist', async () => {
    const ada = await newPerson();
    for (const query of ['?mode=nothing', '?mode=', '?mode=search&mode=list'])
      expect((await rpc(here.url, ada.tools, { method: 'tools/list' }, { query })).status).toBe(400);
    const { body } = await callTool(here.url, ada.tools, 'tools_search', { query: 'mail' });
    expect(body.error?.code).toBe(-32602);
  });
});

describe('a change of the list', () => {
  /** Messages of an open stream, as they come. */
  async function listen(url: string, token: string) {
    const controller = new AbortController();
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 'sub-1', method: 'subscriptions/listen' },
        params: {
          notifications: { toolsListChanged: true },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    const methods: string[] = [];
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body as ReadableStream<Uint8Array>)
        for (const [, method = ''] of decoder.decode(chunk).matchAll(/"method":"([^"]+)"/g))
          methods.push(method);
    })().catch(() => {});
    return {
      methods,
      response,
      /** By the other side. */
      ended: reading,
      async end() {
        controller.abort();
        await reading;
      },
    };
  }
  const CHANGED = 'notifications/tools/list_changed';

  test('[TH-11.4] is told on open streams of the newest revision, in every process, to nobody else', async () => {
    const [ada, bob] = await Promise.all([newPerson(), newPerson()]);
    const streams = await Promise.all([
      listen(here.url, ada.tools),
      listen(there.url, ada.tools),
      listen(there.url, bob.tools),
    ]);
    const [near, far, other] = streams;
    await expect.poll(() => streams.map(({ methods }) => methods.length)).toEqual([1, 1, 1]);
    await connect(ada);
    await expect.poll(() => [near.methods[1], far.methods[1]]).toEqual([CHANGED, CHANGED]);
    // Stored again is no change.
    await connect(ada);
    await ada.api('PUT', '/api/tools/slack_send_message', { enabled: false });
    await expect.poll(() => [near.methods.length, far.methods.length]).toEqual([3, 3]);
    expect(other.methods).toEqual(['notifications/subscriptions/acknowledged']);
    await Promise.all(streams.map(({ end }) => end()));
  });

  test('[TH-3.6] is told to no token that was revoked, in any process', async () => {
    const ada = await newPerson();
    const { id, token } = await makeToken(here.url, ada, { scopes: ['tools:read'] });
    const streams = await Promise.all([
      listen(here.url, token),
      listen(there.url, token),
      listen(there.url, ada.tools),
    ]);
    await expect.poll(() => streams.map(({ methods }) => methods.length)).toEqual([1, 1, 1]);
    await ada.api('DELETE', `/api/tokens/${id}`);
    await Promise.all(streams.slice(0, 2).map(({ ended }) => ended));
    await connect(ada);
    await expect.poll(() => streams.map(({ methods }) => methods.length)).toEqual([1, 1, 2]);
    await Promise.all(streams.map(({ end }) => end()));
  });

  test('[TH-11.4] is announced by the newest revision alone, and one customer holds a bounded number of streams', async () => {
    const ada = await newPerson();
    const { body } = await rpc(here.url, ada.tools, { method: 'server/discover' });
    expect(body.result?.capabilities).toMatchObject({ tools: { listChanged: true } });
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const older = await rpc(here.url, ada.tools, { method: 'initialize', params }, { era: 'legacy' });
    expect(older.body.result?.capabilities).toEqual({ tools: {} });
    const streams = await Promise.all(Array.from({ length: 16 }, () => listen(here.url, ada.tools)));
    await expect.poll(() => streams.every(({ methods }) => methods.length === 1)).toBe(true);
    const refused = await listen(here.url, ada.tools);
    expect(refused.response.headers.get('content-type')).toContain('application/json');
    await Promise.all([...streams, refused].map(({ end }) => end()));
  });
});
