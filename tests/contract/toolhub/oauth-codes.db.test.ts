// A code is worth one token, however many ask for it and wherever they ask.
import type { TestDatabase } from '@libs/db/testing';
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Account, call, signUp } from '../../../services/toolhub/test/accounts.ts';
import {
  exchange,
  type OAuthClient,
  obtainCode,
  registerClient,
  warmUp,
} from '../../../services/toolhub/test/authorization.ts';
import {
  createToolhubDatabase,
  type Instance,
  spawnInstance,
} from '../../../services/toolhub/test/instance.ts';

const EXCHANGES = 20;

let database: TestDatabase;
let first: Instance;
let second: Instance;
let account: Account;
let client: OAuthClient;

beforeAll(async () => {
  database = await createToolhubDatabase();
  first = await spawnInstance(database.url);
  second = await spawnInstance(database.url, { publicUrl: first.url });
  account = await signUp(first.url);
  client = await registerClient(first.url);
});

afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await database.drop();
});

async function tokenWorks(token: string): Promise<boolean[]> {
  const answers = await Promise.all([first, second].map(({ url }) => call(`${url}/api/me`, { token })));
  return answers.map(({ status }) => status === 200);
}

test('[TH-4.6] 20 parallel exchanges over two processes: one token, 19 invalid_grant, and a late reuse revokes it', async () => {
  for (let round = 0; round < 4; round += 1) {
    const { code, pkce } = await obtainCode(first.url, account, client);
    // Half of the rounds on connections that are open already, half on new ones, which arrive one after the other.
    if (round % 2 === 1) await Promise.all([first, second].map(({ url }) => warmUp(url, EXCHANGES / 2)));
    const answers = await Promise.all(
      Array.from({ length: EXCHANGES }, (_, index) =>
        exchange((index % 2 === 0 ? first : second).url, client, code, pkce),
      ),
    );
    const granted = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status, body }) => status === 400 && body.error === 'invalid_grant');
    expect([granted.length, refused.length]).toEqual([1, EXCHANGES - 1]);
    const token = granted[0]?.body.access_token ?? '';
    expect(await tokenWorks(token)).toEqual([true, true]);

    const late = await exchange(second.url, client, code, pkce);
    expect([late.status, late.body.error]).toEqual([400, 'invalid_grant']);
    await withinASecond(
      () => tokenWorks(token),
      (answer) => expect(answer).toEqual([false, false]),
    );
    const { rows } = await database.database.query('select id from oauth_grants where customer_id = $1', [
      account.id,
    ]);
    expect(rows).toEqual([]);
  }
});

test('[TH-4] the code of one customer gives the token of that customer', async () => {
  const other = await signUp(first.url);
  const [mine, theirs] = await Promise.all([
    obtainCode(first.url, account, client),
    obtainCode(first.url, other, client),
  ]);
  const tokens = await Promise.all([
    exchange(second.url, client, mine.code, mine.pkce),
    exchange(second.url, client, theirs.code, theirs.pkce),
  ]);
  const owners = await Promise.all(
    tokens.map(({ body }) =>
      call<{ customer: { id: string } }>(`${first.url}/api/me`, { token: body.access_token }),
    ),
  );
  expect(owners.map(({ body }) => body.customer.id)).toEqual([account.id, other.id]);
  const { rows } = await database.database.query('select distinct customer_id from oauth_tokens order by 1');
  expect(rows.map((row) => row.customer_id)).toEqual([account.id, other.id].sort());
});
