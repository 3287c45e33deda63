// Every operation of the reference, called by everybody there is: keys of each scope and mode, people of each role, the
// operator, and those who are nobody any more. What the matrix does not let in learns nothing but that.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CallerKind, keyScopes, needOf, type Verdict, verdictOf } from './authorisation-matrix.ts';
import { ADMIN_TOKEN, type Harness, SANDBOX_KEY, startHarness } from './harness.ts';
import { nextMail, signUp, verifyAddress } from './person.ts';

interface Operation {
  id: string;
  method: string;
  path: string;
}

interface TriedCaller {
  name: string;
  kind: CallerKind;
  headers: Record<string, string>;
}

type Person = Awaited<ReturnType<typeof signUp>>;

let harness: Harness;
let operations: Operation[];
let callers: TriedCaller[];
let owner: Person;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const HOUR_MS = 3_600_000;

beforeAll(async () => {
  harness = await startHarness();
  const document = (await harness.call('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id }]) => ({
      ...{ id, method: method.toUpperCase(), path },
    })),
  );
  owner = await signUp(harness);
  await verifyAddress(harness, owner);
  callers = [...(await staleCallers()), ...(await keyCallers()), ...(await peopleCallers())];
  callers.push({ name: 'the admin token', kind: { as: 'admin_token' }, headers: bearer(ADMIN_TOKEN) });
});
afterAll(() => harness.stop());

/** Those who were somebody, or never were. */
async function staleCallers(): Promise<TriedCaller[]> {
  const organisation = await harness.organisation();
  const expires_at = new Date(harness.time.now().getTime() + HOUR_MS).toISOString();
  const expired = await harness.key(organisation.id, { mode: 'live', expires_at });
  await harness.call('DELETE', `/v1/admin/keys/${organisation.keyIds.test}`, { key: ADMIN_TOKEN });
  harness.time.advance(2 * HOUR_MS);
  const gone = await signUp(harness);
  const cookie = gone.cookie as string;
  await gone.call('POST', '/v1/session/logout', {});
  return [
    { name: 'nobody', kind: { as: 'nobody' }, headers: {} },
    { name: 'an ended session', kind: { as: 'nobody' }, headers: { cookie } },
    { name: 'no scheme', kind: { as: 'nobody' }, headers: { authorization: organisation.live } },
    {
      name: 'another scheme',
      kind: { as: 'nobody' },
      headers: { authorization: `Basic ${organisation.live}` },
    },
    ...[
      ['a key that never was', `sk_live_${'0'.repeat(43)}`],
      ['an expired key', expired.key],
      ['a revoked key', organisation.test],
    ].map(
      ([name, key]): TriedCaller => ({
        ...{ name: name as string, kind: { as: 'stale_key' }, headers: bearer(key as string) },
      }),
    ),
  ];
}

async function keyCallers(): Promise<TriedCaller[]> {
  const { id, test: testKey, live } = await harness.organisation();
  const whole = [
    { name: 'a test key', kind: { as: 'key', mode: 'test', scopes: keyScopes }, headers: bearer(testKey) },
    { name: 'a live key', kind: { as: 'key', mode: 'live', scopes: keyScopes }, headers: bearer(live) },
    // A key decides alone: the cookie of somebody mightier beside it adds nothing.
    {
      name: 'a live key with a cookie',
      kind: { as: 'key', mode: 'live', scopes: keyScopes },
      headers: { ...bearer(live), cookie: owner.cookie as string },
    },
  ] satisfies TriedCaller[];
  const restricted = await Promise.all(
    keyScopes.flatMap((scope) =>
      (['test', 'live'] as const).map(async (mode): Promise<TriedCaller> => {
        const { key } = await harness.key(id, { mode, scopes: [scope] });
        return {
          name: `a ${mode} key for ${scope}`,
          kind: { as: 'key', mode, scopes: [scope] },
          headers: bearer(key),
        };
      }),
    ),
  );
  return [...whole, ...restricted];
}

async function join(role: string): Promise<Person> {
  const email = `${role}@example.com`;
  await owner.call('POST', '/v1/invitations', { email, role });
  const { token } = await nextMail(harness, email, /invited/);
  return signUp(harness, { email, invitation: token, organisation: undefined });
}

async function peopleCallers(): Promise<TriedCaller[]> {
  const outcast = await join('viewer');
  await owner.call('DELETE', `/v1/members/${outcast.userId}`);
  const operator = await signUp(harness);
  await verifyAddress(harness, operator);
  await harness.call('POST', `/v1/admin/users/${operator.email}/operator`, {
    ...{ key: ADMIN_TOKEN, body: { operator: true } },
  });
  const members = [
    { person: owner, role: 'owner', isOperator: false },
    { person: await join('developer'), role: 'developer', isOperator: false },
    { person: await signUpViewer(), role: 'viewer', isOperator: false },
    { person: operator, role: 'owner', isOperator: true },
  ] as const;
  return [
    ...members.flatMap(({ person, role, isOperator }) =>
      (['test', 'live'] as const).map((mode): TriedCaller => {
        const headers = { cookie: person.cookie as string, 'payments-mode': mode };
        const name = `${isOperator ? 'an operator' : `a member (${role})`} in ${mode} mode`;
        return { name, kind: { as: 'member', role, mode, isOperator }, headers };
      }),
    ),
    {
      name: 'who is in no organisation',
      kind: { as: 'outcast' },
      headers: { cookie: outcast.cookie as string },
    },
  ];
}

async function signUpViewer(): Promise<Person> {
  const viewer = await signUp(harness);
  await owner.call('POST', '/v1/invitations', { email: viewer.email, role: 'viewer' });
  const { token } = await nextMail(harness, viewer.email, /invited/);
  await viewer.call('POST', '/v1/session/invitations/accept', { token });
  return viewer;
}

/** A call that no handler does anything with: ids that never were, and a body that fits nothing. */
async function attempt({ method, path }: Operation, headers: Record<string, string>) {
  const address = path.replaceAll(/\{\w+\}/g, 'none_01kaf3v6w8q2m5x9t7c4b1n0ze');
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const response = await fetch(`${harness.url}${address}`, {
    method,
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(hasBody ? { body: '{"no_such_field":1}' } : {}),
    redirect: 'manual',
  });
  // The stream of events has no end.
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status: response.status, code: null };
  }
  const text = await response.text();
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? null;
  return { status: response.status, code };
}

const seen = (status: number): Verdict => (status === 401 || status === 403 ? status : 'in');

test('[P-3.9] every operation of the reference has its line in the matrix, and no line is of none', () => {
  expect([...needOf.keys()].sort()).toEqual(operations.map(({ id }) => id).sort());
});

/** Two thousand calls, of which each is a key or a session to be looked up. */
const SLOW_MACHINE_MS = 180_000;

test('[P-2.11] [P-3.9] every operation lets in whom the matrix says, and nobody else', {
  timeout: SLOW_MACHINE_MS,
}, async () => {
  const wrong: string[] = [];
  for (const operation of operations) {
    const need = needOf.get(operation.id);
    if (need === undefined) throw new Error(`${operation.id} has no line`);
    const answers = await Promise.all(
      callers.map(async ({ name, kind, headers }) => {
        const { status, code } = await attempt(operation, headers);
        const expected = verdictOf(need, kind);
        return seen(status) === expected
          ? []
          : [`${operation.id} as ${name}: ${status} ${code}, not ${expected}`];
      }),
    );
    wrong.push(...answers.flat());
  }
  expect(wrong).toEqual([]);
});

test('[P-3.20] no page of another site writes with anybody’s cookie, whatever it looks like', async () => {
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  const writing = operations.filter(({ method }) => method !== 'GET');
  const wrong: string[] = [];
  for (const operation of writing) {
    const expected = needOf.get(operation.id) === 'admin_token' ? '401 unauthorized' : '403 csrf';
    const answers = await Promise.all(
      foreign.map((headers) => attempt(operation, { cookie: owner.cookie as string, ...headers })),
    );
    const told = new Set(answers.map(({ status, code }) => `${status} ${code}`));
    if (told.size !== 1 || !told.has(expected)) wrong.push(`${operation.id}: ${[...told].join(', ')}`);
  }
  expect(wrong).toEqual([]);
});

/** By Node's own client, since `fetch` names no other host than the one it asks. */
async function makeBalance(headers: Record<string, string>): Promise<number | undefined> {
  const asked = request(`${harness.url}/v1/payment_methods`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${SANDBOX_KEY}`, 'content-type': 'application/json' },
      ...{ 'idempotency-key': randomUUID(), ...headers },
    },
  });
  asked.end(JSON.stringify({ type: 'balance' }));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

test('[P-3.20] a page under a name that was made to lead here writes nothing with the published key', async () => {
  const rebound = { origin: 'http://evil.example:4000', host: 'evil.example:4000' };
  expect(await makeBalance(rebound)).toBe(403);
  expect(await makeBalance({})).toBe(201);
  for (const origin of ['chrome-extension://abcdef', 'null', 'https://console.example'])
    expect(await makeBalance({ origin })).toBe(201);
  const read = await harness.call('GET', '/v1/payments', { headers: { origin: 'https://evil.example' } });
  expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([200, null]);
});
