// The edge of /mcp over real HTTP: who gets in, what is refused and how, in both eras of the protocol.
import { gzipSync } from 'node:zlib';
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InternalSession, Session } from '../customers/identity.ts';
import { testPlatform } from './test/platform.ts';
import {
  addCustomer,
  callTool,
  createToolhubDatabase,
  customerSession,
  type Instance,
  readAnswer,
  rpc,
  startInstance,
} from './test/rig.ts';

const ERAS = ['modern', 'legacy'] as const;
let db: TestDatabase;
let hub: Instance;
const alpha = testPlatform('alpha');
const beta = testPlatform('beta');
const gamma = testPlatform('gamma');
const tokens = new Map<string, Session | InternalSession>([
  ['full', customerSession('cus_1')],
  ['reader', customerSession('cus_1', ['tools:read', 'account:read'])],
  ['useless', customerSession('cus_1', ['account:read', 'account:write'])],
  ['operator', { kind: 'internal', name: 'ops', scopes: ['tools:read', 'tools:write'] }],
]);

beforeAll(async () => {
  db = await createToolhubDatabase();
  await addCustomer(db.database, 'cus_1', 'starter');
  hub = await startInstance({
    databaseUrl: db.url,
    connectors: [alpha.connector, beta.connector, gamma.connector],
    tokens,
    internalAccounts: { alpha: ['main', 'spare'], beta: ['only'] },
  });
  tokens.set('elsewhere', {
    ...customerSession('cus_1'),
    via: 'oauth',
    audience: 'https://other.example/mcp',
  });
  tokens.set('here', { ...customerSession('cus_1'), via: 'oauth', audience: `${hub.url}/mcp` });
});

afterAll(async () => {
  await hub?.close();
  await db?.drop();
  expect(hub.errors).toEqual([]);
});

function post(body: string | Buffer, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${hub.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer full',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
}

/** fetch sets Host and Origin by itself, so these go over a plain request. */
async function withHeaders(headers: Record<string, string>): Promise<number> {
  const { request } = await import('node:http');
  const { port } = new URL(hub.url);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        host: '127.0.0.1',
        path: '/mcp',
        method: 'POST',
        headers: { authorization: 'Bearer full', ...headers },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

describe('who gets in', () => {
  test('[TH-5.2] without a token: 401 that says where to get one', async () => {
    const { status, headers, body } = await rpc(hub.url, null, { method: 'tools/list' });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${hub.url}/.well-known/oauth-protected-resource/mcp", scope="tools:read tools:write offline_access"`,
    );
    expect(headers.get('content-type')).toBe('application/problem+json');
    expect(headers.get('x-request-id')).toMatch(/./);
    expect(body.code).toBe('unauthenticated');
  });

  test.each(['nobody', 'elsewhere'])('with a token of %s: 401 invalid_token', async (token) => {
    const { status, headers } = await rpc(hub.url, token, { method: 'tools/list' });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", resource_metadata="/);
  });

  test('a token made for this resource works', async () => {
    expect((await rpc(hub.url, 'here', { method: 'tools/list' })).status).toBe(200);
  });

  async function refusedWrites(): Promise<number> {
    const { rows } = await db.database.query(
      `select 1 from audit_entries where action = 'tool.call' and target = 'alpha_send_note' and outcome = 'refused'`,
    );
    return rows.length;
  }

  test('[TH-5.2] a token without a scope of tools: 403 insufficient_scope', async () => {
    const { status, headers, body } = await rpc(hub.url, 'useless', { method: 'tools/list' });
    expect(status).toBe(403);
    expect(headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="tools:read"');
    expect(body.code).toBe('insufficient_scope');
  });

  test.each(ERAS)('%s: reading is not writing: 403, audited, and nothing runs', async (era) => {
    const before = alpha.log.calls.length;
    const refusedBefore = await refusedWrites();
    const { status, headers } = await callTool(hub.url, 'reader', 'alpha_send_note', { text: 'x' }, { era });
    expect(status).toBe(403);
    expect(headers.get('www-authenticate')).toContain(
      'error="insufficient_scope", scope="tools:read tools:write"',
    );
    expect(alpha.log.calls).toHaveLength(before);
    expect(await refusedWrites()).toBe(refusedBefore + 1);
    expect((await callTool(hub.url, 'reader', 'alpha_get_note', { number: 1 }, { era })).status).toBe(200);
  });

  test('also where the SDK would answer', async () => {
    const params = { name: 'alpha_send_note', arguments: { text: 'x' }, _meta: { progressToken: 1 } };
    for (const era of ERAS)
      expect((await rpc(hub.url, 'reader', { method: 'tools/call', params }, { era })).status).toBe(403);
  });

  test('[TH-5.3] names of this machine pass while the public address is one, others do not', async () => {
    const { port } = new URL(hub.url);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect(await withHeaders({ host })).toBe(400);
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost', `localhost:${Number(port) + 1}`])
      expect(await withHeaders({ host })).toBe(403);
    const host = `localhost:${port}`;
    expect(await withHeaders({ host, origin: `http://localhost:${port}` })).toBe(400);
    for (const origin of ['https://evil.example', 'null', `https://localhost:${port}`, 'http://localhost'])
      expect(await withHeaders({ host, origin })).toBe(403);
  });
});

describe('methods and types', () => {
  test.each(['GET', 'DELETE'])('[TH-13.7] %s: 405', async (method) => {
    for (const headers of [{}, { authorization: 'Bearer full', accept: 'text/event-stream' }]) {
      const response = await fetch(`${hub.url}/mcp`, { method, headers });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
    }
  });

  test('PUT: 405 that recommends POST alone', async () => {
    const response = await fetch(`${hub.url}/mcp`, { method: 'PUT', body: '{}' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('compressed, or said to be: 415', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    for (const sent of [gzipSync(body), body])
      expect((await post(sent, { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await post(body, { 'content-encoding': 'identity' })).status).toBe(200);
    const stranger = { 'content-encoding': 'gzip', authorization: 'Bearer nobody' };
    expect((await post(body, stranger)).status).toBe(401);
  });

  test('not JSON: 415', async () => {
    expect((await post('x', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test('an era without its Accept: 406 of the transport', async () => {
    const { status } = await rpc(
      hub.url,
      'full',
      { method: 'tools/list' },
      { era: 'legacy', headers: { accept: 'application/json' } },
    );
    expect(status).toBe(406);
  });
});

describe('?platforms=', () => {
  const names = async (query: string, token = 'full') =>
    (await rpc(hub.url, token, { method: 'tools/list' }, { query })).body.result?.tools?.map(
      ({ name }) => name,
    );

  test('[TH-5.8] narrows the list, and the tools of no platform stay', async () => {
    const all = await names('');
    expect(all).toHaveLength(2 + 3 * 6);
    const narrowed = await names('?platforms=beta');
    expect(narrowed).toEqual(all?.filter((name) => /^(accounts|beta)_/.test(name)));
    expect(await names('?platforms=gamma,alpha')).toEqual(all?.filter((name) => !name.startsWith('beta_')));
    expect(await names('?platforms=gamma&platforms=alpha')).toEqual(await names('?platforms=alpha,gamma'));
  });

  test('a call outside of it is one to an unknown tool', async () => {
    const query = '?platforms=beta';
    const { body } = await callTool(hub.url, 'full', 'alpha_get_note', { number: 1 }, { query });
    expect(body.error?.code).toBe(-32602);
  });

  test.each(['nope', 'alpha,nope', '', 'ALPHA', 'accounts'])('%j: 400', async (value) => {
    const { status, body } = await rpc(
      hub.url,
      'full',
      { method: 'tools/list' },
      { query: `?platforms=${value}` },
    );
    expect([status, body.code]).toEqual([400, 'invalid_query']);
  });
});

describe('kinds of sessions', () => {
  const schemas = async (token: string) =>
    new Map(
      (await rpc(hub.url, token, { method: 'tools/list' })).body.result?.tools?.map((tool) => [
        tool.name,
        tool.inputSchema,
      ]),
    );

  test('[TH-5.4] a customer sees no account parameter, and cannot use one', async () => {
    for (const schema of (await schemas('full')).values())
      expect(Object.keys(schema.properties)).not.toContain('account');
    const { body } = await callTool(hub.url, 'full', 'alpha_get_note', { number: 1, account: 'main' });
    expect(body.result?.structuredContent?.error).toMatchObject({
      code: 'invalid_arguments',
      errors: [{ pointer: '/account', code: 'unknown_field' }],
    });
  });

  test('[TH-5.5] an internal session sees the configured platforms, with their accounts to choose from', async () => {
    const listed = await schemas('operator');
    expect([...listed.keys()].filter((name) => name.startsWith('gamma_'))).toEqual([]);
    expect(listed.get('alpha_get_note')).toMatchObject({
      properties: { account: { enum: ['main', 'spare'] } },
      required: ['number', 'account'],
    });
    expect(listed.get('beta_get_note')?.required).toEqual(['number']);
    expect(Object.keys(listed.get('accounts_list')?.properties ?? {})).not.toContain('account');
  });

  test('[TH-5.5] its choice reaches the connector, and is required where there are several', async () => {
    await callTool(hub.url, 'operator', 'alpha_get_note', { number: 1, account: 'spare' });
    expect(alpha.log.calls.at(-1)).toEqual({
      tool: 'alpha_get_note',
      args: { number: 1 },
      account: 'spare',
      customerId: null,
    });
    await callTool(hub.url, 'operator', 'beta_get_note', { number: 1 });
    expect(beta.log.calls.at(-1)?.account).toBe('only');
    const { body } = await callTool(hub.url, 'operator', 'alpha_get_note', { number: 1 });
    expect(body.result?.structuredContent?.error).toMatchObject({ code: 'invalid_arguments' });
    expect((await callTool(hub.url, 'operator', 'gamma_get_note', { number: 1 })).body.error?.code).toBe(
      -32602,
    );
  });

  test('[TH-13.8] it is recorded under internal and not metered', async () => {
    const { rows } = await db.database.query<{ calls: number }>(
      `select sum(calls)::bigint as calls from usage_daily where customer_id = 'internal' and platform = 'beta'`,
    );
    expect(rows).toEqual([{ calls: 1 }]);
    expect(
      (await db.database.query(`select 1 from usage_counters where customer_id = 'internal'`)).rows,
    ).toEqual([]);
    const audit = await db.database.query(
      `select distinct actor_type, actor_id from audit_entries where customer_id = 'internal'`,
    );
    expect(audit.rows).toEqual([{ actor_type: 'internal', actor_id: 'ops' }]);
  });
});

describe('bad input', () => {
  const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"alpha_send_note","arguments":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}}`;
  const cases: [string, string | Buffer, number][] = [
    ['nothing', '', -32700],
    ['broken JSON', '{"jsonrpc":', -32700],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), -32700],
    ['a repeated key', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700],
    ['a bomb of nesting', deep, -32700],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
    ['an empty batch', '[]', -32600],
    ['a string', '"hello"', -32600],
    ['null', 'null', -32600],
    ['no version', '{"id":1,"method":"ping"}', -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600],
  ];
  test.each(cases)('%s: 400 and a JSON-RPC error', async (_name, body, code) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(response.headers.get('x-request-id')).toMatch(/./);
    expect(readAnswer(await response.text())).toMatchObject({ error: { code } });
  });

  test('an unknown revision: 400 that names the known ones', async () => {
    const headers = { 'mcp-protocol-version': '2020-01-01' };
    const legacy = await rpc(hub.url, 'full', { method: 'tools/list' }, { era: 'legacy', headers });
    expect(legacy.status).toBe(400);
    expect(legacy.body.error?.message).toContain('2025-11-25, 2025-06-18, 2025-03-26');
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2030-01-01' };
    const modern = await rpc(
      hub.url,
      'full',
      { method: 'tools/list', params: { _meta } },
      { headers: { 'mcp-protocol-version': '2030-01-01' } },
    );
    expect(modern.status).toBe(400);
    expect(modern.body.error).toMatchObject({ code: -32022, data: { supported: ['2026-07-28'] } });
  });

  test('headers that contradict the body: 400 -32020', async () => {
    for (const headers of [{ 'mcp-method': 'tools/call' }, { 'mcp-protocol-version': '2025-11-25' }])
      expect((await rpc(hub.url, 'full', { method: 'tools/list' }, { headers })).body.error?.code).toBe(
        -32020,
      );
    const { status, body } = await callTool(
      hub.url,
      'full',
      'alpha_send_note',
      { text: 'x' },
      { headers: { 'mcp-name': 'alpha_get_note' } },
    );
    expect([status, body.error?.code]).toEqual([400, -32020]);
  });

  test.each(ERAS)('[TH-13.7] %s: an unknown tool is -32602, an unknown method -32601', async (era) => {
    for (const name of ['nope', 'constructor', '__proto__', 'alpha-get-note', ''])
      expect((await callTool(hub.url, 'full', name, {}, { era })).body.error?.code).toBe(-32602);
    expect((await rpc(hub.url, 'full', { method: 'tools/burn' }, { era })).body.error?.code).toBe(-32601);
  });

  test('[TH-13.5] more values than anybody needs: 413 before they are parsed', async () => {
    const args = { text: 'x', tags: Array.from({ length: 500_000 }, () => 1) };
    expect((await callTool(hub.url, 'full', 'alpha_send_note', args)).status).toBe(413);
  });

  const badArguments: [string, unknown, string][] = [
    ['too long', { text: 'x'.repeat(1_001) }, '/text'],
    ['huge', { text: 'x'.repeat(8_000_000) }, '/text'],
    ['a long list', { text: 'x', tags: Array.from({ length: 15_000 }, () => 1) }, '/tags'],
    ['of the wrong type', { text: { toString: 'x' } }, '/text'],
    ['unknown', { text: 'x', constructor: 1 }, '/constructor'],
    ['with NUL', { text: 'a\0b' }, '/text'],
    ['with half a character', { text: 'a\ud800b' }, '/text'],
  ];
  test.each([
    [
      'a list without end',
      JSON.stringify({ jsonrpc: '2.0', id: 1, x: Array.from({ length: 500_000 }, () => 1) }),
    ],
  ])('[TH-13.9] %s is 413 before it is parsed', async (_name, body) => {
    const response = await post(body);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
      413,
      'body_too_large',
    ]);
  });

  test.each(badArguments)(
    '[TH-13.7] arguments %s: a result with invalid_arguments',
    async (_name, args, pointer) => {
      const before = alpha.log.calls.length;
      for (const era of ERAS) {
        const { status, body } = await callTool(
          hub.url,
          'full',
          'alpha_send_note',
          args as Record<string, unknown>,
          {
            era,
          },
        );
        expect(status).toBe(200);
        expect(body.result?.isError).toBe(true);
        const error = body.result?.structuredContent?.error as {
          code: string;
          errors: { pointer: string }[];
        };
        expect(error.code).toBe('invalid_arguments');
        expect(error.errors.some((fault) => fault.pointer.startsWith(pointer))).toBe(true);
        expect(JSON.stringify(body).length).toBeLessThan(20_000);
      }
      expect(alpha.log.calls).toHaveLength(before);
    },
  );

  const numbered = (count: number, rest: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}${rest}`, 1]));
  test.each<[string, Record<string, unknown>]>([
    ['bad keys below a long one', { ['k'.repeat(200_000)]: numbered(100, '\0') }],
    ['bad keys below one of megabytes', { ['k'.repeat(12_000_000)]: numbered(100, '\0') }],
    ['one of megabytes', { ['k'.repeat(15_000_000)]: 1 }],
    ['many that grow when they are escaped', numbered(20, '~/'.repeat(350_000))],
  ])('[TH-13.7] arguments with long keys (%s): an answer of some kilobytes', async (_name, args) => {
    for (const era of ERAS) {
      const { status, body } = await callTool(hub.url, 'full', 'accounts_list', args, { era });
      expect([status, body.result?.structuredContent?.error?.code]).toEqual([200, 'invalid_arguments']);
      expect(JSON.stringify(body).length).toBeLessThan(20_000);
    }
  });

  test('a message whose answer would repeat a long text of its own: 400', async () => {
    const long = 'k'.repeat(2_000);
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    for (const [label, bent] of Object.entries({
      id: { id: long },
      method: { method: long },
      name: { method: 'tools/call', params: { name: long } },
      uri: { method: 'resources/read', params: { uri: long } },
      'progress token': { params: { _meta: { progressToken: long } } },
      'protocol version': { params: { _meta: { 'io.modelcontextprotocol/protocolVersion': long } } },
    })) {
      const response = await post(JSON.stringify({ ...message, ...bent }));
      expect(response.status).toBe(400);
      expect(readAnswer(await response.text())).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32600, message: `The ${label} of the message has more than 1024 characters.` },
      });
    }
  });

  test('arguments that are no object: -32602', async () => {
    for (const era of ERAS) {
      const params = { name: 'alpha_send_note', arguments: [1] as unknown as Record<string, unknown> };
      expect((await rpc(hub.url, 'full', { method: 'tools/call', params }, { era })).body.error?.code).toBe(
        -32602,
      );
    }
  });

  test.each(ERAS)('%s: parameters that do not fit their method: -32602 that says where', async (era) => {
    const { body } = await rpc(hub.url, 'full', { method: 'tools/list', params: { cursor: 5 } }, { era });
    expect(body.error).toMatchObject({
      code: -32602,
      message: 'Invalid tools/list request: params.cursor: Invalid input: expected string, received number',
    });
  });

  test('a handshake without its parts: -32602', async () => {
    const whole = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    for (const missing of Object.keys(whole)) {
      const params = { ...whole, [missing]: undefined };
      const { body } = await rpc(hub.url, 'full', { method: 'initialize', params }, { era: 'legacy' });
      expect(body.error?.code).toBe(-32602);
      expect(body.error?.message).toContain(`params.${missing}: `);
    }
  });

  test('[TH-13.9] a body beyond the limit: 413', async () => {
    const response = await post(`{"x":"${'y'.repeat(17 * 1024 * 1024)}"}`);
    expect(response.status).toBe(413);
  });

  test('a cursor for a list that has one page: -32602', async () => {
    for (const era of ERAS) {
      const { body } = await rpc(hub.url, 'full', { method: 'tools/list', params: { cursor: 'x' } }, { era });
      expect(body.error?.code).toBe(-32602);
    }
  });
});
