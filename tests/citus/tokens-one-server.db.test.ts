// While the server of some customers is away, tokens and sessions of the others are known, also to a process that never saw them; of theirs
// it says that they cannot be looked up, and never that they are no good.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Account, makeToken, PASSWORD, signUp } from '../../services/toolhub/test/accounts.ts';
import { type OAuthClient, obtainTokens, registerClient } from '../../services/toolhub/test/authorization.ts';
import { createToolhubDatabase, type Instance, startInstance } from '../../services/toolhub/test/instance.ts';
import { type WiredServer, type Wires, wireServers } from './worker-wires.ts';

interface Known {
  account: Account;
  personal: string;
  access: string;
  refresh: string;
}

const ACCOUNTS_MAX = 100;

let made: TestDatabase;
let wires: Wires;
let away: WiredServer;
let first: Instance;
let second: Instance;
let client: OAuthClient;
let ofAway: Known;
let ofThere: Known;

beforeAll(async () => {
  made = await createToolhubDatabase();
  wires = await wireServers(made.database);
  first = await startInstance(made.url);
  client = await registerClient(first.url);
  const [one, other] = wires.servers as [WiredServer, WiredServer];
  away = one;
  [ofAway, ofThere] = [await customerOn(one), await customerOn(other)];
});
// Of what one test has shown it, a process remembers something: the next test asks another one.
afterEach(async () => {
  away.comeBack();
  await second.stop();
});
afterAll(async () => {
  await first.stop();
  await made.drop();
  await wires.stop();
});

async function customerOn({ name }: WiredServer): Promise<Known> {
  for (let tried = 0; tried < ACCOUNTS_MAX; tried += 1) {
    const account = await signUp(first.url);
    if ((await made.database.serverOf(account.id)) !== name) continue;
    const { token: personal } = await makeToken(first.url, account, { scopes: ['account:read'] });
    const { access_token: access, refresh_token: refresh } = await obtainTokens(first.url, account, client);
    return { account, personal, access, refresh: refresh ?? '' };
  }
  throw new Error(`no customer has their rows on server ${name}`);
}

/** Without the check of the reference, which says nothing of a database that is away. */
async function statusOf(headers: Record<string, string>): Promise<number> {
  return (await fetch(`${second.url}/api/me`, { headers })).status;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const statusesOf = async ({ account, personal, access }: Known): Promise<number[]> => [
  await statusOf(bearer(personal)),
  await statusOf(bearer(access)),
  await statusOf({ cookie: account.cookie }),
];

async function renew({ refresh }: Known): Promise<Response> {
  const body = { grant_type: 'refresh_token', refresh_token: refresh, client_id: client.client_id };
  return fetch(`${first.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(body) });
}

test.each([
  ['is stopped', () => away.stop()],
  ['stands still', () => away.freeze()],
])(
  'tokens and sessions of customers whose server is there are known while another one %s',
  async (_how, leave) => {
    second = await startInstance(made.url, { publicUrl: first.url });
    leave();
    expect(await statusesOf(ofThere)).toEqual([200, 200, 200]);
    const login = await fetch(`${second.url}/api/auth/login`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ email: ofThere.account.email, password: PASSWORD }),
    });
    expect(login.status).toBe(200);
    const [cookie = ''] = (login.headers.get('set-cookie') ?? '').split(';');
    expect(await statusOf({ cookie })).toBe(200);
  },
);

test('those of the server that is away are neither good nor bad until it is back', async () => {
  second = await startInstance(made.url, { publicUrl: first.url });
  away.stop();
  const nobodys = `${ofThere.personal.slice(0, -4)}aaaa`;
  expect(await statusesOf(ofAway)).toEqual([503, 503, 503]);
  expect(await statusOf(bearer(nobodys))).toBe(503);
  expect((await renew(ofAway)).status).toBe(503);
  away.comeBack();
  expect(await statusesOf(ofAway)).toEqual([200, 200, 200]);
  expect(await statusOf(bearer(nobodys))).toBe(401);
});

test('an assistant of a customer whose server is there gets its next token', async () => {
  second = await startInstance(made.url, { publicUrl: first.url });
  away.stop();
  const answer = await renew(ofThere);
  expect(answer.status).toBe(200);
  const { access_token: access } = (await answer.json()) as { access_token: string };
  expect(await statusOf(bearer(access))).toBe(200);
});
