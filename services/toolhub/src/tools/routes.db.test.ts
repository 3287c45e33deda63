// Switches over real HTTP and two processes: what one changes, the other serves within a second.
import type { TestDatabase } from '@libs/db/testing';
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testPlatform } from '../mcp/test/platform.ts';
import {
  addCustomer,
  callTool,
  createToolhubDatabase,
  customerSession,
  type Instance,
  rpc,
  startInstance,
} from '../mcp/test/rig.ts';

let db: TestDatabase;
let hubs: [Instance, Instance];
const alpha = testPlatform('alpha');
const beta = testPlatform('beta');

beforeAll(async () => {
  db = await createToolhubDatabase();
  for (const id of ['cus_1', 'cus_2']) await addCustomer(db.database, id);
  const tokens = new Map(['cus_1', 'cus_2'].map((id) => [id, customerSession(id)]));
  const options = { databaseUrl: db.url, connectors: [alpha.connector, beta.connector], tokens };
  hubs = [await startInstance(options), await startInstance(options)];
});

afterAll(async () => {
  for (const hub of hubs) await hub.close();
  await db?.drop();
});

interface Body {
  code?: string;
  data: { name: string; enabled: boolean; platform: string | null }[];
  next_cursor: string | null;
  platforms: unknown[];
}

async function api(method: string, path: string, body?: unknown, token = 'cus_1') {
  const response = await fetch(`${hubs[0].url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

async function listed(hub: Instance, token = 'cus_1') {
  return (
    (await rpc(hub.url, token, { method: 'tools/list' })).body.result?.tools?.map(({ name }) => name) ?? []
  );
}

test('all tools are on at first, and come in one page or in several', async () => {
  const { body } = await api('GET', '/api/tools');
  expect(body.data).toHaveLength(14);
  expect(body.data.every(({ enabled }) => enabled)).toBe(true);
  expect(body.data[2]).toMatchObject({
    ...{ name: 'alpha_get_note', title: 'Get a note', platform: 'alpha', class: 'R', switched_on: true },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  });
  expect(body.platforms).toEqual([
    { platform: 'alpha', title: 'ALPHA', enabled: true },
    { platform: 'beta', title: 'BETA', enabled: true },
  ]);
  const names: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Body = (await api('GET', `/api/tools?limit=5${cursor === null ? '' : `&cursor=${cursor}`}`))
      .body;
    names.push(...page.data.map(({ name }) => name));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(names).toEqual(body.data.map(({ name }) => name));
});

test('a tool switched off is gone from the list and cannot be called, in both processes, for that customer', async () => {
  for (const hub of hubs) expect(await listed(hub)).toContain('alpha_send_note');
  const off = await api('PUT', '/api/tools/alpha_send_note', { enabled: false });
  expect(off).toMatchObject({
    status: 200,
    body: { name: 'alpha_send_note', enabled: false, switched_on: false },
  });
  expect(await listed(hubs[0])).not.toContain('alpha_send_note');
  await withinASecond(
    () => listed(hubs[1]),
    (names) => expect(names).not.toContain('alpha_send_note'),
  );
  for (const hub of hubs) {
    expect((await callTool(hub.url, 'cus_1', 'alpha_send_note', { text: 'x' })).body.error?.code).toBe(
      -32602,
    );
    expect(await listed(hub, 'cus_2')).toContain('alpha_send_note');
  }
  expect(alpha.log.calls).toEqual([]);
  await api('PUT', '/api/tools/alpha_send_note', { enabled: true });
  await withinASecond(
    () => listed(hubs[1]),
    (names) => expect(names).toContain('alpha_send_note'),
  );
});

test('a platform switched off takes its tools along, whatever their own switches say', async () => {
  await api('PUT', '/api/tools/beta_get_note', { enabled: false });
  expect((await api('PUT', '/api/platforms/beta', { enabled: false })).body).toEqual({
    platform: 'beta',
    enabled: false,
  });
  expect((await listed(hubs[0])).filter((name) => name.startsWith('beta_'))).toEqual([]);
  const { body } = await api('GET', '/api/tools');
  expect(body.data.filter(({ platform }) => platform === 'beta').some(({ enabled }) => enabled)).toBe(false);
  expect(body.platforms).toContainEqual({ platform: 'beta', title: 'BETA', enabled: false });
  await api('PUT', '/api/platforms/beta', { enabled: true });
  expect((await listed(hubs[0])).filter((name) => name.startsWith('beta_'))).toHaveLength(5);
  await api('PUT', '/api/tools/beta_get_note', { enabled: true });
});

test('switching twice changes nothing, and every change is audited', async () => {
  for (const enabled of [false, false, true, true])
    await api('PUT', '/api/tools/alpha_mark_note', { enabled });
  const { rows } = await db.database.query(
    `select action from audit_entries where target = 'alpha_mark_note' order by id`,
  );
  expect(rows.map(({ action }) => action)).toEqual([
    ...['tool.switched_off', 'tool.switched_off', 'tool.switched_on', 'tool.switched_on'],
  ]);
});

test('what is not there or cannot be switched is refused', async () => {
  expect((await api('PUT', '/api/tools/nope', { enabled: true })).status).toBe(404);
  expect((await api('PUT', '/api/tools/constructor', { enabled: true })).status).toBe(404);
  expect((await api('PUT', '/api/platforms/nope', { enabled: true })).status).toBe(404);
  expect(await api('PUT', '/api/tools/accounts_list', { enabled: false })).toMatchObject({
    ...{ status: 422, body: { code: 'tool_always_on' } },
  });
  for (const body of [{}, { enabled: 1 }, { enabled: true, extra: 1 }])
    expect((await api('PUT', '/api/tools/alpha_get_note', body)).status).toBe(422);
  expect((await api('GET', '/api/tools?limit=0')).status).toBe(400);
  expect((await api('GET', '/api/tools?cursor=x')).status).toBe(400);
  expect((await api('GET', '/api/tools', undefined, 'nobody')).status).toBe(401);
});
