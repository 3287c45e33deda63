// How often a password may be guessed: per account over all processes, and per network address.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, newEmail, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { authorizeUrl, newPkce, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { Browser } from '../../../services/toolhub/test/browser.ts';
import {
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';

const MINUTE_MS = 60_000;

let database: TestDatabase;
let first: Instance;
let second: Instance;
let shiftMs = 0;
const now = () => new Date(Date.now() + shiftMs);

beforeAll(async () => {
  database = await createToolhubDatabase();
  first = await startInstance(database.url, { now });
  second = await startInstance(database.url, { now });
});

afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await database.drop();
});

const login = (instance: Instance, email: string, password: string) =>
  call(`${instance.url}/api/auth/login`, { body: { email, password } });

test('[TH-13.3] ten failures in 15 minutes close the account to further tries, right ones too, in every process', async () => {
  const { email } = await signUp(first.url);
  for (let count = 0; count < 10; count += 1) {
    const { status } = await login(count % 2 === 0 ? first : second, email.toUpperCase(), 'wrong password');
    expect(status).toBe(401);
    shiftMs += MINUTE_MS;
  }
  for (const instance of [first, second]) {
    const { status, body, headers } = await login(instance, email, PASSWORD);
    expect([status, body.code]).toEqual([429, 'too_many_logins']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(4 * 60);
    expect(headers.get('ratelimit')).toMatch(/^"logins";r=0;t=\d+$/);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(5 * 60);
  }
  // The oldest failure leaves the window after 15 minutes: one more try, and closed again.
  shiftMs += 5 * MINUTE_MS + 1_000;
  expect((await login(first, email, 'wrong password')).status).toBe(401);
  expect((await login(second, email, PASSWORD)).status).toBe(429);
  shiftMs += 15 * MINUTE_MS;
  expect((await login(second, email, PASSWORD)).status).toBe(200);
});

test('[TH-13] the limit is the same for an account that does not exist', async () => {
  const email = newEmail();
  const statuses: number[] = [];
  for (let count = 0; count < 12; count += 1)
    statuses.push((await login(first, email, 'wrong password')).status);
  expect(statuses).toEqual([...new Array(10).fill(401), 429, 429]);
});

test('[TH-13] parallel guesses over two processes do not pass the limit together', async () => {
  const { email } = await signUp(first.url);
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      login(index % 2 === 0 ? first : second, email, 'wrong password'),
    ),
  );
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  expect([count(401), count(429)]).toEqual([10, 14]);
});

test('[TH-13] parallel logins with the right password all succeed, and count as no failure', async () => {
  const { email } = await signUp(first.url);
  const answers = await Promise.all(Array.from({ length: 15 }, () => login(first, email, PASSWORD)));
  expect(answers.map(({ status }) => status)).toEqual(new Array(15).fill(200));
  const { rows } = await database.database.query('select 1 from login_attempts where failed is null');
  expect(rows).toEqual([]);
});

test('[TH-13] tries whose process died keep nobody out', async () => {
  const { email } = await signUp(first.url);
  expect((await login(first, email, 'wrong password')).status).toBe(401);
  await database.database.query(
    `insert into login_attempts (account_key, id, at)
     select account_key, id || nth, at - interval '31 seconds' from generate_series(1, 10) as nth,
       (select account_key, id, at from login_attempts where failed order by at desc limit 1) as last`,
  );
  expect((await login(second, email, PASSWORD)).status).toBe(200);
});

test('[TH-13] failures on the login page count like the others', async () => {
  const { email } = await signUp(first.url);
  const browser = new Browser();
  const client = await registerClient(first.url);
  const page = await browser.open(authorizeUrl(first.url, client, newPkce()));
  for (let count = 0; count < 10; count += 1)
    expect((await browser.submit(page, '/login', { email, password: 'wrong password' })).status).toBe(401);
  const closed = await browser.submit(page, '/login', { email, password: PASSWORD });
  expect(closed.status).toBe(429);
  expect(closed.text).toMatch(/Wait \d+ minutes/);
  expect(Number(closed.headers.get('retry-after'))).toBeGreaterThan(60);
  expect((await login(first, email, PASSWORD)).status).toBe(429);
});

test('[TH-1.6] sign-ups, registrations and logins share a limit per network address', async () => {
  const limited = await startInstance(database.url, { env: { TOOLHUB_RATE_ADDRESS: '6' } });
  const { url } = limited;
  try {
    const body = { redirect_uris: ['http://localhost/cb'], token_endpoint_auth_method: 'none' };
    await signUp(url);
    for (let count = 0; count < 2; count += 1)
      expect((await call(`${url}/oauth/register`, { body })).status).toBe(201);
    for (let count = 0; count < 3; count += 1)
      expect((await login(limited, newEmail(), 'wrong password')).status).toBe(401);
    const refused = await login(limited, newEmail(), 'wrong password');
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit')).toMatch(/^"address";r=0;t=\d+$/);
    const registration = await call(`${url}/oauth/register`, { body });
    expect([registration.status, registration.body.error]).toEqual([429, 'temporarily_unavailable']);
    expect(registration.headers.get('ratelimit')).toMatch(/^"address";r=0/);
    expect(registration.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    // Everything else goes on.
    expect((await call(`${url}/healthz`)).status).toBe(200);
  } finally {
    await limited.stop();
  }
});

test('[TH-1.6] the forms of the login and sign-up pages are under the same limit', async () => {
  const client = await registerClient(first.url);
  const limited = await startInstance(database.url, { env: { TOOLHUB_RATE_ADDRESS: '1' } });
  const browser = new Browser();
  const login = await browser.open(authorizeUrl(limited.url, client, newPkce()));
  const signup = await browser.open(login.url.replace('/oauth/login', '/oauth/signup'));
  // The allowance grows while a slow machine asks, so a refusal is waited for.
  const refusalOf = async (send: () => Promise<{ status: number; text: string }>) => {
    for (let tries = 0; tries < 5; tries += 1) {
      const { status, text } = await send();
      if (status === 429) return /Too many tries[^<]*/.exec(text)?.[0];
    }
    return 'none';
  };
  try {
    const password = 'wrong password';
    const tooMany = /^Too many tries\. Wait (a minute|\d+ minutes), then try again\.$/;
    expect(await refusalOf(() => browser.submit(login, '/login', { email: newEmail(), password }))).toMatch(
      tooMany,
    );
    // No two accounts can have this address, so that none is opened on the way.
    const { email } = await signUp(first.url);
    const account = { email, name: 'New', password };
    expect(await refusalOf(() => browser.submit(signup, '/signup', account))).toMatch(tooMany);
  } finally {
    await limited.stop();
  }
});

test('[TH-3.3] a refused login waits for nothing that only an account has', async () => {
  const { email, id } = await signUp(first.url);
  const refusals = async () => {
    const sql = `select 1 from audit_entries where customer_id = $1 and outcome = 'refused'`;
    return (await database.database.query(sql, [id])).rows.length;
  };
  await database.database.transaction(async (tx) => {
    await tx.query('lock table audit_entries in share mode');
    for (const tried of [email, newEmail()])
      expect((await login(first, tried, 'wrong password')).status).toBe(401);
  });
  await expect.poll(refusals).toBe(1);
});

test('[TH-3.3] whoever forgot a password makes the same work, with an account and without one', async () => {
  const { email } = await signUp(first.url);
  const planned = async () => {
    const sql = `select 1 from jobs where name = 'mail.account' and payload ->> 'kind' = 'reset'`;
    return (await database.database.query(sql)).rows.length;
  };
  for (const [index, tried] of [email, newEmail()].entries()) {
    expect((await call(`${first.url}/api/auth/forgot`, { body: { email: tried } })).status).toBe(202);
    expect(await planned()).toBe(index + 1);
  }
});
