// Every operation of the reference and `/mcp`, called by everybody there is: tokens of each kind and scope, people, the
// operator, its automation, and those who are nobody any more. What the matrix does not let in learns nothing but that.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { obtainTokens, registerClient } from '../../../services/toolhub/test/authorization.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  INTERNAL_TOKEN,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';
import { type CallerKind, needOf, type Verdict, verdictOf } from './authorisation-matrix.ts';

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

let database: TestDatabase;
let instance: Instance;
let url: string;
let operations: Operation[];
let callers: TriedCaller[];
let ada: Account;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const SCOPES = ['tools:read', 'tools:write', 'account:read', 'account:write'];

beforeAll(async () => {
  database = await createToolhubDatabase();
  instance = await startInstance(database.url, { env: { TOOLHUB_RATE: '0' } });
  url = instance.url;
  const { body } = await call<{ paths: Record<string, Record<string, { operationId: string }>> }>(
    `${url}/openapi.json`,
  );
  operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id }]) => ({
      ...{ id, method: method.toUpperCase(), path },
    })),
  );
  operations.push({ id: 'mcp', method: 'POST', path: '/mcp' });
  const stale = await staleCallers();
  ada = await signUp(url);
  callers = [...stale, ...(await suspendedCallers()), ...(await tokenCallers())];
  callers.push(
    { name: 'a person', kind: { as: 'person' }, headers: { cookie: ada.cookie } },
    { name: 'the operator’s automation', kind: { as: 'internal' }, headers: bearer(INTERNAL_TOKEN) },
    { name: 'the admin token', kind: { as: 'admin' }, headers: bearer(ADMIN_TOKEN) },
  );
});

afterAll(async () => {
  await instance.stop();
  await database.drop();
});

/** All that lets into an account. */
async function waysInto(account: Account): Promise<{ cookie: string; personal: string; oauth: string }> {
  const { token: personal } = await makeToken(url, account, { scopes: SCOPES });
  const scope = SCOPES.join(' ');
  const { access_token: oauth } = await obtainTokens(url, account, await registerClient(url), { scope });
  return { cookie: account.cookie, personal, oauth };
}

async function staleCallers(): Promise<TriedCaller[]> {
  const [expiring, closed, revoking] = await Promise.all([signUp(url), signUp(url), signUp(url)]);
  const { token: expired } = await makeToken(url, expiring, { scopes: SCOPES, expires_in_days: 1 });
  const expiredOAuth = (await waysInto(expiring)).oauth;
  const ofClosed = await waysInto(closed);
  await call(`${url}/api/me`, { method: 'DELETE', cookie: closed.cookie, body: { password: PASSWORD } });
  const revoked = await makeToken(url, revoking, { scopes: SCOPES });
  await call(`${url}/api/tokens/${revoked.id}`, { method: 'DELETE', cookie: revoking.cookie });
  await call(`${url}/api/auth/logout`, { method: 'POST', cookie: revoking.cookie });
  for (const table of ['personal_tokens', 'oauth_tokens']) {
    await database.database.query(
      `update ${table} set expires_at = now() - interval '1 second' where customer_id = $1`,
      [expiring.id],
    );
  }
  const tokens: [string, string][] = [
    ['a token that never was', `thp_${'0'.repeat(43)}`],
    ['an expired personal token', expired],
    ['an expired access token', expiredOAuth],
    ['a revoked token', revoked.token],
    ['a token of a closed account', ofClosed.personal],
    ['an access token of a closed account', ofClosed.oauth],
    // A cookie is no token.
    ['the value of a cookie', expiring.cookie.split('=')[1] as string],
  ];
  const cookies: [string, string][] = [
    ['an ended session', revoking.cookie],
    ['a session of a closed account', ofClosed.cookie],
  ];
  return [
    { name: 'nobody', kind: { as: 'nobody' }, headers: {} },
    { name: 'no scheme', kind: { as: 'stale', by: 'bearer' }, headers: { authorization: expired } },
    ...tokens.map(
      ([name, token]): TriedCaller => ({ name, kind: { as: 'stale', by: 'bearer' }, headers: bearer(token) }),
    ),
    ...cookies.map(
      ([name, cookie]): TriedCaller => ({ name, kind: { as: 'stale', by: 'cookie' }, headers: { cookie } }),
    ),
  ];
}

async function suspendedCallers(): Promise<TriedCaller[]> {
  const account = await signUp(url);
  const { cookie, personal, oauth } = await waysInto(account);
  await call(`${url}/api/admin/customers/${account.id}/suspend`, { token: ADMIN_TOKEN, body: {} });
  return [
    { name: 'a suspended person', kind: { as: 'suspended', by: 'cookie' }, headers: { cookie } },
    { name: 'a suspended token', kind: { as: 'suspended', by: 'bearer' }, headers: bearer(personal) },
    { name: 'a suspended client', kind: { as: 'suspended', by: 'bearer' }, headers: bearer(oauth) },
  ];
}

async function tokenCallers(): Promise<TriedCaller[]> {
  const client = await registerClient(url);
  const made: TriedCaller[] = [];
  for (const scopes of [SCOPES, ...SCOPES.map((scope) => [scope])]) {
    const { token } = await makeToken(url, ada, { scopes });
    const { access_token: oauth } = await obtainTokens(url, ada, client, { scope: scopes.join(' ') });
    const kind = { as: 'token', scopes } as const;
    made.push({ name: `a token for ${scopes}`, kind, headers: bearer(token) });
    made.push({ name: `a client with ${scopes}`, kind, headers: bearer(oauth) });
  }
  // A token decides alone: the cookie of its own person beside it adds nothing.
  const { token } = await makeToken(url, ada, { scopes: ['tools:read'] });
  const headers = { ...bearer(token), cookie: ada.cookie };
  return [
    ...made,
    { name: 'a small token with a cookie', kind: { as: 'token', scopes: ['tools:read'] }, headers },
  ];
}

const PARAMETERS: Record<string, string> = { platform: 'slack', name: 'slack_send_message' };

/** A call that no handler does anything with: ids that never were, and a body that fits nothing. */
async function attempt({ method, path }: Operation, headers: Record<string, string>) {
  const address = path.replaceAll(
    /\{(\w+)\}/g,
    (_whole, name: string) => PARAMETERS[name] ?? 'none_01kaf3v6w8q2m5x9t7c4b1n0ze',
  );
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const response = await fetch(`${url}${address}`, {
    method,
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(hasBody ? { body: '{"no_such_field":1}' } : {}),
    redirect: 'manual',
  });
  const text = await response.text();
  return { status: response.status, code: /"code":"(\w+)"/.exec(text)?.[1] ?? null };
}

const seen = (status: number): Verdict => (status === 401 || status === 403 ? status : 'in');

test('[TH-2.4] every operation of the reference has its line in the matrix, and no line is of none', () => {
  expect([...needOf.keys()].sort()).toEqual(operations.map(({ id }) => id).sort());
});

test('[TH-3.2] [TH-13.5] every operation lets in whom the matrix says, and nobody else', async () => {
  const wrong: string[] = [];
  for (const operation of operations) {
    const need = needOf.get(operation.id);
    if (need === undefined) throw new Error(`${operation.id} has no line`);
    // Logging out really ends a session, which the others still need.
    const tried =
      operation.id === 'account.log_out' ? callers.filter(({ headers }) => !headers.cookie) : callers;
    const answers = await Promise.all(
      tried.map(async ({ name, kind, headers }) => {
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

test('[TH-13.2] no page of another site writes with anybody’s cookie, whatever it looks like', async () => {
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  const wrong: string[] = [];
  for (const operation of operations.filter(({ method, id }) => method !== 'GET' && id !== 'mcp')) {
    const answers = await Promise.all(
      foreign.map((headers) => attempt(operation, { cookie: ada.cookie, ...headers })),
    );
    const told = new Set(answers.map(({ status, code }) => `${status} ${code}`));
    if (told.size !== 1 || !told.has('403 csrf')) wrong.push(`${operation.id}: ${[...told].join(', ')}`);
  }
  expect(wrong).toEqual([]);
});
