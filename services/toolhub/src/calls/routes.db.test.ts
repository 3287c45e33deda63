// A person tries a tool from the dashboard: a real call, with the same limit and log as an assistant's.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testPlatform } from '../mcp/test/platform.ts';
import {
  addCustomer,
  createToolhubDatabase,
  customerSession,
  type Instance,
  startInstance,
} from '../mcp/test/rig.ts';

let db: TestDatabase;
let hub: Instance;
const alpha = testPlatform('alpha');

beforeAll(async () => {
  db = await createToolhubDatabase();
  await addCustomer(db.database, 'cus_1');
  const person = { ...customerSession('cus_1'), via: 'cookie' as const, tokenId: null };
  const tokens = new Map([
    ['person', person],
    ['token', customerSession('cus_1')],
  ]);
  hub = await startInstance({ databaseUrl: db.url, connectors: [alpha.connector], tokens });
});

afterAll(async () => {
  await hub.close();
  await db?.drop();
});

async function api<T>(method: string, path: string, body?: unknown, token = 'person') {
  const response = await fetch(`${hub.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as T };
}

interface Trial {
  tool: string;
  is_error: boolean;
  content: Record<string, unknown> & { error?: { code: string } };
  text: string;
}

const used = async () => (await api<{ used: number }>('GET', '/api/plan')).body.used;

test('a trial call runs the tool, counts, and stands in the audit log', async () => {
  const before = await used();
  const sent = alpha.log.calls.length;
  const { status, body } = await api<Trial>('POST', '/api/tools/alpha_get_note/call', {
    arguments: { number: 1 },
  });
  expect(status).toBe(200);
  expect(body).toMatchObject({ tool: 'alpha_get_note', is_error: false });
  expect(JSON.parse(body.text)).toEqual(body.content);
  expect(alpha.log.calls).toHaveLength(sent + 1);
  expect(await used()).toBe(before + 1);
  const { rows } = await db.database.query(
    `select actor_type, outcome from audit_entries where action = 'tool.call' and target = 'alpha_get_note'`,
  );
  expect(rows).toEqual([{ actor_type: 'customer', outcome: 'success' }]);
});

test('arguments that do not fit, unknown and switched-off tools reach no platform', async () => {
  const sent = alpha.log.calls.length;
  const wrong = await api<Trial>('POST', '/api/tools/alpha_get_note/call', { arguments: { number: 'x' } });
  expect(wrong).toMatchObject({
    status: 200,
    body: { is_error: true, content: { error: { code: 'invalid_arguments' } } },
  });
  expect((await api('POST', '/api/tools/alpha_nothing/call', { arguments: {} })).status).toBe(404);
  await api('PUT', '/api/tools/alpha_get_note', { enabled: false });
  expect((await api('POST', '/api/tools/alpha_get_note/call', { arguments: { number: 1 } })).status).toBe(
    404,
  );
  await api('PUT', '/api/tools/alpha_get_note', { enabled: true });
  expect(alpha.log.calls).toHaveLength(sent);
  const { rows } = await db.database.query(
    `select target, outcome from audit_entries where action = 'tool.call' and outcome = 'refused' order by id`,
  );
  const refused = { target: 'alpha_get_note', outcome: 'refused' };
  expect(rows, 'for its arguments, and since it was off').toEqual([refused, refused]);
});

test('only a person tries tools there: a token has /mcp', async () => {
  const { status, body } = await api<{ code: string }>(
    ...(['POST', '/api/tools/alpha_get_note/call', { arguments: { number: 1 } }, 'token'] as const),
  );
  expect([status, body.code]).toEqual([403, 'person_required']);
});

test('one tool is shown with the schemas of its arguments and its answer', async () => {
  const { body } = await api<Record<string, unknown>>('GET', '/api/tools/alpha_get_note');
  expect(body).toMatchObject({
    name: 'alpha_get_note',
    input_schema: { type: 'object', properties: { number: { type: 'integer' } } },
    output_schema: { type: 'object' },
  });
  expect((await api('GET', '/api/tools/nope')).status).toBe(404);
});
