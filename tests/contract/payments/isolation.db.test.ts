// Test and live data, and two organisations, can never meet: every endpoint, with every stranger's key and session.
import { until } from '@libs/runtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_TOKEN, type Answer, type Harness, startHarness } from './harness.ts';
import { PASSWORD, signUp, verifyAddress } from './person.ts';

interface Operation {
  method: string;
  path: string;
  /** Takes the session of a person and no key. */
  isForPeople: boolean;
  /** The names of what its query takes. */
  query: string[];
}

interface Described {
  security?: object[];
  parameters?: { in?: string; name?: string }[];
}

/** Somebody who must see nothing of ours. */
interface Outsider {
  key: string | null;
  headers: Record<string, string>;
}

let harness: Harness;
let operations: Operation[];
let owned: Record<string, string>;
let owner: { test: string; live: string };
let outsiders: Outsider[];
let outsidePeople: Outsider[];
let hostOrganisationId: string;

async function make(
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer['body']> {
  const answer = await harness.call('POST', path, { key: owner.test, body, headers });
  expect(answer.status, `${path} ${answer.text}`).toBeLessThan(300);
  return answer.body;
}

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0' } });
  let stranger: { test: string; live: string };
  [owner, stranger] = await Promise.all([harness.organisation(), harness.organisation()]);
  const [host, guest] = await Promise.all([signUp(harness), signUp(harness)]);
  await verifyAddress(harness, host);
  hostOrganisationId = host.organisationId;
  outsiders = [stranger.test, stranger.live, owner.live].map((key) => ({ key, headers: {} }));
  outsidePeople = ['test', 'live'].map((mode) => ({
    key: null,
    headers: { cookie: guest.cookie as string, 'payments-mode': mode },
  }));
  const endpoint = await make('/v1/webhook_endpoints', { url: 'http://127.0.0.1:9/hook' });
  const method = await make('/v1/payment_methods', { type: 'balance' });
  const body = {
    amount: 5,
    currency: 'USD',
    source: { payment_method_id: 'pm_a' },
    destination: { payment_method_id: 'pm_b' },
    rail: 'rtp',
  };
  const payment = await make('/v1/payments', body, { 'idempotency-key': 'x' });
  const list = async (path: string) =>
    (await harness.call('GET', path, { key: owner.test })).body.data[0]?.id;
  const deliveries = `/v1/webhook_endpoints/${endpoint.id}/deliveries`;
  await until('there is a delivery', async () => (await list(deliveries)) !== undefined);
  owned = {
    payments: payment.id,
    payment_methods: method.id,
    webhook_endpoints: endpoint.id,
    events: await list('/v1/events'),
    webhook_deliveries: await list(deliveries),
    keys: (await host.call('POST', '/v1/keys', {})).body.id,
    members: host.userId,
    invitations: (await host.call('POST', '/v1/invitations', { email: 'x@example.com', role: 'viewer' })).body
      .id,
    passkeys: 'psk_01kaf3v6w8q2m5x9t7c4b1n0ze',
    sessions: (await host.call('GET', '/v1/session/sessions')).body.data[0].id,
  };
  const hostLogs = async () => (await host.call('GET', '/v1/request_logs')).body.data[0]?.id;
  await until('a request is in the log', async () => (await hostLogs()) !== undefined);
  owned.request_logs = await hostLogs();
  const { paths } = (await harness.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Described>>;
  };
  operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/') && !path.startsWith('/v1/admin/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security = [], parameters = [] }]) => ({
        ...{ method: method.toUpperCase(), path },
        query: parameters.flatMap(({ in: place, name }) => (place === 'query' ? (name ?? []) : [])),
        isForPeople: security.length > 0 && security.every((way) => 'session' in way),
      })),
    );
});

/** Keys and people of other organisations, where the endpoint takes them. */
const outsidersOf = ({ isForPeople }: Operation) =>
  isForPeople ? outsidePeople : [...outsiders, ...outsidePeople];
afterAll(() => harness.stop());

/** The resource that stands before the id in a path. */
function resourceOf(path: string): string | undefined {
  return /\/(\w+)\/\{id\}/.exec(path)?.[1];
}

/** A body that fits, so that the answer is about the id and not about the body. */
function bodyFor({ method, path }: Operation): object | undefined {
  if (method === 'DELETE' && path.includes('/passkeys/')) return { password: PASSWORD };
  if (method === 'GET' || method === 'DELETE') return undefined;
  if (path.endsWith('/fund')) return { amount: 1 };
  if (path.endsWith('/return')) return { code: 'R01' };
  if (path.startsWith('/v1/members/')) return { role: 'viewer' };
  if (method === 'PATCH') return { description: 'mine now' };
  return {};
}

function send(operation: Operation, id: string, { key, headers }: Outsider): Promise<Answer> {
  const body = bodyFor(operation);
  return harness.call(operation.method, operation.path.replace('{id}', id), {
    key,
    headers: { ...headers, 'idempotency-key': `probe ${id}` },
    ...(body ? { body } : {}),
  });
}

/** Everything in an answer but what names the one request. */
function words({ status, body }: Answer, id: string): string {
  const { request_id: _unique, ...rest } = body as Record<string, unknown>;
  return `${status} ${JSON.stringify(rest).replaceAll(id, 'ID')}`;
}

test('[P-2.11] [P-3.2] every endpoint with an id answers a stranger as if the id never was', async () => {
  const withId = operations.filter(({ path }) => path.includes('{id}'));
  expect(withId.length).toBeGreaterThanOrEqual(15);
  for (const operation of withId) {
    const resource = resourceOf(operation.path) as string;
    const id = owned[resource] as string;
    expect(id, operation.path).toBeTruthy();
    const never = `${id.slice(0, -4)}zzzz`;
    for (const outsider of outsidersOf(operation)) {
      const foreign = await send(operation, id, outsider);
      const unknown = await send(operation, never, outsider);
      const label = `${operation.method} ${operation.path}`;
      expect([403, 404], label).toContain(foreign.status);
      expect(words(foreign, id), label).toBe(words(unknown, never));
    }
  }
});

/** A stream has no end: what it tells at once of all that it keeps. */
async function beginningOf(path: string, { key, headers }: Outsider): Promise<string> {
  const response = await fetch(`${harness.url}${path}`, {
    headers: {
      ...headers,
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      'last-event-id': 'evt_0',
    },
    signal: AbortSignal.timeout(STREAM_MS),
  });
  let text = '';
  try {
    for await (const part of response.body ?? []) text += Buffer.from(part).toString();
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
  return text;
}

const STREAM_MS = 300;

test('[P-3.2] every list of a stranger, and of the other mode, is empty of what is ours', async () => {
  const ours = new Set(Object.values(owned));
  const lists = operations.filter(
    ({ method, path }) =>
      // Whoever asked for an id finds in the own log that they asked.
      method === 'GET' && !path.includes('{id}') && path !== '/v1/request_logs',
  );
  expect(lists.length).toBeGreaterThanOrEqual(6);
  for (const operation of lists) {
    const { path } = operation;
    const query = path.endsWith('/export') ? '?format=csv' : '';
    for (const outsider of outsidersOf(operation)) {
      const text = path.endsWith('/stream')
        ? await beginningOf(path, outsider)
        : (await harness.call('GET', path + query, outsider)).text;
      for (const id of ours) expect(text, `${path} shows ${id}`).not.toContain(id);
    }
  }
});

/** What each filter that takes an id would find with ours; names of no id find nothing anyway. */
test('[P-3.2] no filter of any list finds anything by our ids', async () => {
  const ours = Object.values(owned);
  const lists = operations.filter(
    ({ method, path, query }) => method === 'GET' && query.length > 0 && path !== '/v1/request_logs',
  );
  const tried: string[] = [];
  for (const operation of lists) {
    const path = operation.path.replace('{id}', ours[0] as string);
    for (const name of operation.query.filter((one) => one !== 'format')) {
      for (const id of ours) {
        const needed = path.endsWith('/export') ? 'format=csv&' : '';
        const address = `${path}?${needed}${encodeURIComponent(name)}=${id}`;
        for (const outsider of outsidersOf(operation)) {
          const { status, text, body } = await harness.call('GET', address, outsider);
          // A list that took the filter is empty; of a file there is the line with the names of the columns.
          if (status === 200)
            expect(body?.data ?? text.trimEnd().split('\r\n').slice(1), address).toEqual([]);
          for (const other of ours) {
            if (other !== id && other !== ours[0]) expect(text, address).not.toContain(other);
          }
          // What the schema refuses is refused to everybody alike.
          if (status === 400) break;
        }
      }
      tried.push(`${operation.path} ${name}`);
    }
  }
  expect(tried).toContain('/v1/ledger/entries payment_id');
  expect(tried).toContain('/v1/payments payment_method');
});

test('[P-3.2] ids of others in a body are ids that never were', async () => {
  const payment = (source: string, destination: string) => ({
    ...{ amount: 7, currency: 'USD', source: { payment_method_id: source } },
    destination: { payment_method_id: destination },
  });
  const ours = owned.payment_methods as string;
  const never = `${ours.slice(0, -4)}zzzz`;
  for (const path of ['/v1/payments/quote', '/v1/payments']) {
    for (const outsider of outsiders) {
      for (const shape of [(id: string) => payment(id, 'pm_b'), (id: string) => payment('pm_a', id)]) {
        const ask = async (id: string) => {
          const headers = { 'idempotency-key': `body of ${id} ${JSON.stringify(shape('x'))}` };
          const { status, body } = await harness.call('POST', path, {
            ...outsider,
            body: shape(id),
            headers,
          });
          return [status, body.code ?? body.source?.type ?? 'taken'];
        };
        expect(await ask(ours), path).toEqual(await ask(never));
      }
    }
  }
  const view = await harness.call('GET', `/v1/payment_methods/${ours}`, { key: owner.test });
  expect(view.body).toMatchObject({ id: ours, type: 'balance' });
  for (const person of outsidePeople) {
    const ask = async (id: string) => {
      const body = { organisation_id: id };
      return words(await harness.call('POST', '/v1/session/organisation', { ...person, body }), id);
    };
    expect(await ask(hostOrganisationId)).toBe(await ask(`${hostOrganisationId.slice(0, -4)}zzzz`));
  }
});

test('[P-3.9] no key of an organisation opens what is the operator’s', async () => {
  const { paths } = (await harness.call('GET', '/openapi.json')).body as { paths: Record<string, object> };
  const admin = Object.entries(paths).filter(([path]) => path.startsWith('/v1/admin/'));
  expect(admin.length).toBeGreaterThan(0);
  for (const [path, methods] of admin) {
    for (const method of Object.keys(methods)) {
      const options = method === 'get' || method === 'delete' ? {} : { body: {} };
      const send = (key: string | null) =>
        harness.call(method.toUpperCase(), path.replace('{id}', 'org_x'), { ...options, key });
      expect((await send(null)).status, path).toBe(401);
      expect((await send(owner.live)).status, path).toBe(403);
    }
  }
  expect(ADMIN_TOKEN).not.toBe(owner.live);
});
