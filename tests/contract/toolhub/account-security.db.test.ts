// Proving an address, getting back in, sessions, and the end of an account, with the mails that really leave.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Transaction } from '@libs/db';
import type { TestDatabase } from '@libs/db/testing';
import { withinASecond } from '@libs/runtime/testing';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SoftwareAuthenticator } from '../../../libs/login/test/authenticator.ts';
import { ERASED_TABLES, KEPT_TABLES } from '../../../services/toolhub/src/customers/erasure-store.ts';
import {
  type Account,
  call,
  makeToken,
  newEmail,
  PASSWORD,
  signUp,
} from '../../../services/toolhub/test/accounts.ts';
import { obtainTokens, postForm, registerClient } from '../../../services/toolhub/test/authorization.ts';
import {
  ADMIN_TOKEN,
  createToolhubDatabase,
  type Instance,
  startInstance,
} from '../../../services/toolhub/test/instance.ts';

let db: TestDatabase;
let service: Instance;
let folder: string;
let url: string;

beforeAll(async () => {
  db = await createToolhubDatabase();
  folder = await mkdtemp(join(tmpdir(), 'toolhub-mails-'));
  service = await startInstance(db.url, { env: { DATA_DIR: folder }, jobs: true });
  url = service.url;
});

afterAll(async () => {
  await service.stop();
  await db.drop();
  await rm(folder, { recursive: true, force: true });
});

/** The change is made but not committed when the call comes, and committed once the call waits for it, or is answered. */
async function during(
  change: (tx: Transaction) => Promise<unknown>,
  act: () => ReturnType<typeof post>,
): ReturnType<typeof post> {
  let answer: ReturnType<typeof post> | undefined;
  let isAnswered = false;
  await db.database.transaction(async (tx) => {
    await change(tx);
    answer = act().finally(() => {
      isAnswered = true;
    });
    const began = performance.now();
    const waits = async () => {
      const { rows } = await tx.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      // On a cluster it waits on the server where the customer is, which is not seen from here.
      return isAnswered || rows.length > 0 || performance.now() - began > 2_000;
    };
    await expect.poll(waits).toBe(true);
  });
  return answer as ReturnType<typeof post>;
}

interface ReadMail {
  subject: string;
  text: string;
  to: string;
  headers: string;
}

async function mailsTo(address: string): Promise<ReadMail[]> {
  const names = await readdir(join(folder, 'mail')).catch(() => []);
  const mails = await Promise.all(
    names
      .filter((name) => name.endsWith('.eml'))
      .sort()
      .map(async (name) => {
        const source = await readFile(join(folder, 'mail', name), 'utf8');
        const { subject = '', text = '' } = await simpleParser(source);
        return {
          subject,
          text,
          to: /^To: (.*)$/m.exec(source)?.[1]?.trim() ?? '',
          headers: source.split('\r\n\r\n', 1)[0] ?? '',
        };
      }),
  );
  return mails.filter(({ to }) => to === address);
}

/** The token of the newest mail of this kind, and how it was worded. */
async function linkIn(address: string, page: 'verify' | 'reset', count = 1): Promise<string> {
  const pattern = new RegExp(`${url}/${page}\\?token=([\\w-]+)`);
  const tokens = async () => (await mailsTo(address)).flatMap(({ text }) => pattern.exec(text)?.[1] ?? []);
  await expect.poll(async () => (await tokens()).length).toBeGreaterThanOrEqual(count);
  return (await tokens()).at(-1) as string;
}

const post = (path: string, body: unknown, account?: Account) =>
  call(`${url}${path}`, { body, ...(account === undefined ? {} : { cookie: account.cookie }) });
const me = (account: Account) =>
  call<{ customer: { email_verified: boolean; name: string } }>(`${url}/api/me`, { cookie: account.cookie });

describe('verification', () => {
  test('[TH-3.9] the mail of a sign-up verifies the address, once', async () => {
    const ada = await signUp(url);
    expect((await me(ada)).body.customer.email_verified).toBe(false);
    const token = await linkIn(ada.email, 'verify');
    expect((await post('/api/auth/verify', { token: `${token}x` })).status).toBe(422);
    expect((await post('/api/auth/verify', { token })).body).toMatchObject({
      customer: { id: ada.id, email_verified: true },
    });
    expect((await me(ada)).body.customer.email_verified).toBe(true);
    expect((await post('/api/auth/verify', { token })).body).toMatchObject({ code: 'link_not_valid' });
  });

  test('[TH-3.10] mail holds no text that somebody chose', async () => {
    const email = newEmail();
    const name = 'Buy cheap pills at evil.example';
    await call(`${url}/api/auth/signup`, { body: { email, password: PASSWORD, name } });
    await linkIn(email, 'verify');
    for (const mail of await mailsTo(email)) expect(JSON.stringify(mail)).not.toMatch(/pills|evil/);
  });

  test('[TH-3.10] asking again and again fills no mailbox', async () => {
    const ada = await signUp(url);
    await linkIn(ada.email, 'verify');
    for (let n = 0; n < 12; n += 1) expect((await post('/api/auth/verify/resend', {}, ada)).status).toBe(202);
    await linkIn(ada.email, 'verify', 5);
    const jobs = async () =>
      (await db.database.query(`select 1 from jobs where name = 'mail.account'`)).rows.length;
    await expect.poll(jobs).toBe(0);
    expect((await mailsTo(ada.email)).length).toBe(5);
  });

  test('[TH-7.16] an invoice waits as open until the address is verified, and then leaves', async () => {
    const ada = await signUp(url);
    const token = await linkIn(ada.email, 'verify');
    await db.database.query(
      `update customers set plan = 'starter', created_at = '2026-01-01' where id = $1`,
      [ada.id],
    );
    const admin = (path: string, body: unknown) =>
      call<Record<string, unknown>>(`${url}${path}`, { body, token: ADMIN_TOKEN });
    expect((await admin('/api/admin/invoices/run', { period: '2026-02' })).body).toMatchObject({ failed: 0 });
    const invoice = async () =>
      (await call<{ data: { status: string }[] }>(`${url}/api/invoices`, { cookie: ada.cookie })).body
        .data[0];
    expect(await invoice()).toMatchObject({ status: 'open' });
    expect((await mailsTo(ada.email)).filter(({ subject }) => subject.startsWith('Invoice'))).toEqual([]);
    await post('/api/auth/verify', { token });
    await admin('/api/admin/invoices/run', { period: '2026-02' });
    expect(await invoice()).toMatchObject({ status: 'sent' });
    expect((await mailsTo(ada.email)).filter(({ subject }) => subject.startsWith('Invoice'))).toHaveLength(1);
  });
});

describe('a password', () => {
  test('[TH-3.9] is reset by the link of a mail: once, and all sessions end', async () => {
    const ada = await signUp(url);
    for (const email of [ada.email, 'nobody@example.com', 'no address'])
      expect(await post('/api/auth/forgot', { email })).toMatchObject({ status: 202, body: {} });
    const token = await linkIn(ada.email, 'reset');
    const password = 'a whole new password';
    expect((await post('/api/auth/reset', { token, password: 'short' })).status).toBe(422);
    expect((await post('/api/auth/reset', { token, password })).status).toBe(204);
    expect((await me(ada)).status).toBe(401);
    expect((await post('/api/auth/reset', { token, password })).status).toBe(422);
    expect((await post('/api/auth/login', { email: ada.email, password: PASSWORD })).status).toBe(401);
    expect((await post('/api/auth/login', { email: ada.email, password })).status).toBe(200);
  });

  test('[TH-3.9] links work for an hour to reset it, for a day to verify the address, and not a moment longer', async () => {
    const ada = await signUp(url);
    const verify = await linkIn(ada.email, 'verify');
    await post('/api/auth/forgot', { email: ada.email });
    const reset = await linkIn(ada.email, 'reset');
    const { rows } = await db.database.query(
      `select kind, extract(epoch from expires_at - created_at)::int / 3600 as hours from mail_tokens
       where customer_id = $1 order by kind`,
      [ada.id],
    );
    expect(rows).toEqual([
      { kind: 'reset', hours: 1 },
      { kind: 'verify', hours: 24 },
    ]);
    const crossed = [
      await post('/api/auth/verify', { token: reset }),
      await post('/api/auth/reset', { token: verify, password: 'by the wrong link' }),
    ];
    expect(crossed.map(({ body }) => body.code)).toEqual(['link_not_valid', 'link_not_valid']);
    const ago = (ms: number) => new Date(Date.now() - ms);
    await db.database.query(
      'update mail_tokens set created_at = $2, expires_at = $3 where customer_id = $1',
      [ada.id, ago(2 * 24 * 60 * 60_000), ago(1_000)],
    );
    const late = [
      await post('/api/auth/verify', { token: verify }),
      await post('/api/auth/reset', { token: reset, password: 'a password too late' }),
    ];
    expect(late.map(({ body }) => body.code)).toEqual(['link_not_valid', 'link_not_valid']);
  });

  test('[TH-3.9] that is changed, or reset by another link, ends the links to reset it', async () => {
    const ada = await signUp(url);
    const forget = (count: number) =>
      post('/api/auth/forgot', { email: ada.email }).then(() => linkIn(ada.email, 'reset', count));
    const password = 'another horse battery';
    const isOver = async (token: string) =>
      (await post('/api/auth/reset', { token, password: PASSWORD })).body.code === 'link_not_valid';
    const first = await forget(1);
    expect((await post('/api/auth/password', { current: PASSWORD, new: password }, ada)).status).toBe(204);
    expect(await isOver(first)).toBe(true);
    const [second, third] = [await forget(2), await forget(3)];
    expect((await post('/api/auth/reset', { token: third, password })).status).toBe(204);
    expect([await isOver(second), await isOver(third)]).toEqual([true, true]);
    expect((await post('/api/auth/login', { email: ada.email, password })).status).toBe(200);
  });

  test('[TH-3.9] that is set anew is followed by no session and no other password of who knew the old one', async () => {
    const [ada, other] = [await signUp(url), await signUp(url)];
    const { rows: others } = await db.database.query<{ password_hash: string }>(
      'select password_hash from customers where id = $1',
      [other.id],
    );
    const change = 'update customers set password_hash = $2 where id = $1';
    const acts: [() => ReturnType<typeof post>, number][] = [
      [() => post('/api/auth/login', { email: ada.email, password: PASSWORD }), 401],
      [() => post('/api/auth/password', { current: PASSWORD, new: 'of who was thrown out' }, ada), 403],
    ];
    const { rows: own } = await db.database.query<{ password_hash: string }>(
      'select password_hash from customers where id = $1',
      [ada.id],
    );
    for (const [act, status] of acts) {
      await db.database.query(change, [ada.id, own[0]?.password_hash]);
      const answer = await during((tx) => tx.query(change, [ada.id, others[0]?.password_hash]), act);
      expect(answer.status).toBe(status);
    }
    const { rows: kept } = await db.database.query('select password_hash from customers where id = $1', [
      ada.id,
    ]);
    expect(kept).toEqual(others);
  });

  test('[TH-3.9] reset by the owner of an address leaves nothing to whoever signed up with it before', async () => {
    const squatter = await signUp(url);
    const { token: left } = await makeToken(url, squatter);
    const client = await registerClient(url);
    const tokens = await obtainTokens(url, squatter, client);
    await post('/api/webhooks/config', { webhook_url: 'https://example.com/ear' }, squatter);
    await call(`${url}/api/credentials/telegram?verify=false`, {
      ...{ method: 'PUT', cookie: squatter.cookie, body: { bot_token: '4242:of-the-squatter' } },
    });
    await post('/api/auth/forgot', { email: squatter.email });
    const password = 'the owner has come';
    const token = await linkIn(squatter.email, 'reset');
    const told = async (email: string) => (await mailsTo(email)).at(-1)?.text;
    expect(await told(squatter.email)).toMatch(/removes what was made before:\ntokens, connected assistants/);
    expect((await post('/api/auth/reset', { token, password })).status).toBe(204);
    const withLeftToken = async (bearer: string) => (await call(`${url}/api/me`, { token: bearer })).status;
    for (const bearer of [left, tokens.access_token])
      await withinASecond(
        () => withLeftToken(bearer),
        (status) => expect(status).toBe(401),
      );
    const renewed = await postForm(`${url}/oauth/token`, {
      ...{ grant_type: 'refresh_token', client_id: client.client_id },
      refresh_token: tokens.refresh_token as string,
    });
    expect(renewed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const login = await post('/api/auth/login', { email: squatter.email, password });
    const cookie = (login.headers.getSetCookie()[0] ?? '').split(';', 1)[0] as string;
    const list = async (path: string) =>
      (await call<{ data: unknown[] }>(`${url}${path}`, { cookie })).body.data;
    for (const path of ['/api/tokens', '/api/clients', '/api/credentials'])
      expect(await list(path)).toEqual([]);
    expect((await call(`${url}/api/webhooks/config`, { cookie })).status).toBe(404);
    const log = await call<{ data: { action: string }[] }>(`${url}/api/audit`, { cookie });
    expect(log.body.data.map(({ action }) => action).slice(0, 2)).toEqual([
      'session.started',
      'account.reclaimed',
    ]);
  });

  test('[TH-3.9] reset by who had proved the address keeps tokens, clients and connections', async () => {
    const ada = await signUp(url);
    await post('/api/auth/verify', { token: await linkIn(ada.email, 'verify') });
    const { token: kept } = await makeToken(url, ada);
    await post('/api/auth/forgot', { email: ada.email });
    const token = await linkIn(ada.email, 'reset');
    expect((await mailsTo(ada.email)).at(-1)?.text).not.toMatch(/removes/);
    expect((await post('/api/auth/reset', { token, password: 'another password' })).status).toBe(204);
    expect((await call(`${url}/api/me`, { token: kept })).status).toBe(200);
  });

  test('[TH-3.9] is changed by who knows it, and other sessions end', async () => {
    const ada = await signUp(url);
    const other = await call(`${url}/api/auth/login`, { body: { email: ada.email, password: PASSWORD } });
    const otherCookie = (other.headers.getSetCookie()[0] ?? '').split(';', 1)[0] as string;
    const change = (current: string) => post('/api/auth/password', { current, new: 'another password' }, ada);
    expect((await change('wrong password')).body).toMatchObject({ status: 403, code: 'wrong_password' });
    expect((await change(PASSWORD)).status).toBe(204);
    expect((await me(ada)).status).toBe(200);
    expect((await call(`${url}/api/me`, { cookie: otherCookie })).status).toBe(401);
    const { token } = await makeToken(url, ada, { scopes: ['account:read', 'account:write'] });
    const byToken = await call(`${url}/api/auth/password`, {
      token,
      body: { current: 'x', new: 'another password' },
    });
    expect(byToken.body).toMatchObject({ status: 403, code: 'person_required' });
  });
});

describe('sessions', () => {
  test('[TH-3.9] are listed and ended one by one', async () => {
    const ada = await signUp(url);
    const other = await call(`${url}/api/auth/login`, {
      body: { email: ada.email, password: PASSWORD },
      headers: { 'user-agent': 'Other browser' },
    });
    const otherCookie = (other.headers.getSetCookie()[0] ?? '').split(';', 1)[0] as string;
    const list = () =>
      call<{ data: { id: string; current: boolean; user_agent: string }[] }>(`${url}/api/sessions`, {
        cookie: ada.cookie,
      });
    const { data } = (await list()).body;
    expect(data.map(({ current }) => current)).toEqual([false, true]);
    expect(data[0]?.user_agent).toBe('Other browser');
    const end = (cookie: string) => call(`${url}/api/sessions/${data[0]?.id}`, { method: 'DELETE', cookie });
    expect((await end((await signUp(url)).cookie)).status).toBe(404);
    expect((await end(ada.cookie)).status).toBe(204);
    expect((await call(`${url}/api/me`, { cookie: otherCookie })).status).toBe(401);
    expect((await list()).body.data).toHaveLength(1);
  });
});

describe('the account', () => {
  test('[TH-3.9] gets another name', async () => {
    const ada = await signUp(url);
    const answer = await call(`${url}/api/me`, {
      method: 'PATCH',
      cookie: ada.cookie,
      body: { name: ' Ada L. ' },
    });
    expect(answer).toMatchObject({ status: 200, body: { customer: { name: 'Ada L.' } } });
    const bad = await call(`${url}/api/me`, { method: 'PATCH', cookie: ada.cookie, body: { name: '  ' } });
    expect(bad.status).toBe(422);
  });

  test('[TH-3.11] is closed by who knows the password; nothing is left but invoices', async () => {
    const ada = await signUp(url);
    const { token } = await makeToken(url, ada, { scopes: ['account:read', 'account:write'] });
    const tokens = await obtainTokens(url, ada, await registerClient(url));
    await call(`${url}/api/webhooks/config`, {
      cookie: ada.cookie,
      body: { webhook_url: 'https://example.com/x' },
    });
    const close = (password: string, headers = {}) =>
      call(`${url}/api/me`, { method: 'DELETE', cookie: ada.cookie, body: { password }, headers });
    expect(
      (await call(`${url}/api/me`, { method: 'DELETE', token, body: { password: PASSWORD } })).status,
    ).toBe(403);
    expect((await close('wrong password')).status).toBe(403);
    // The process remembers both, and what this shows needs no account.
    const planStatuses = () =>
      Promise.all(
        [token, tokens.access_token].map(
          async (bearer) => (await call(`${url}/api/plan`, { token: bearer })).status,
        ),
      );
    expect(await planStatuses()).toEqual([200, 200]);
    expect((await close(PASSWORD)).status).toBe(204);
    expect((await me(ada)).status).toBe(401);
    expect(await planStatuses()).toEqual([401, 401]);
    const { rows } = await db.database.query<{
      table_schema: string;
      table_name: string;
      column_name: string;
    }>(
      `select table_schema, table_name, column_name from information_schema.columns
       where table_schema like 'toolhub%' and column_name in ('customer_id', 'tenant_id')`,
    );
    expect(rows.length).toBeGreaterThan(ERASED_TABLES.length);
    const tablesWithRows = async () => {
      const found: string[] = [];
      for (const { table_schema: schema, table_name: table, column_name: column } of rows) {
        if ((KEPT_TABLES as readonly string[]).includes(table)) continue;
        const sql = `select 1 from ${schema}.${table} where ${column} = $1 limit 1`;
        if ((await db.database.query(sql, [ada.id])).rowCount) found.push(table);
      }
      return found;
    };
    await expect.poll(tablesWithRows, { interval: 200 }).toEqual([]);
    // A call that was under way when the account was closed.
    await db.database.query(
      `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors)
       values ($1, current_date, 'slack_list_channels', 1, 'slack', 1, 0)`,
      [ada.id],
    );
    const { rows: later } = await db.database.query(
      `update jobs set ready_at = now() where name = 'customers.erase' and payload->>'customerId' = $1
         and ready_at > now() + interval '15 minutes' returning id`,
      [ada.id],
    );
    expect(later).toHaveLength(1);
    await expect.poll(tablesWithRows, { interval: 200 }).toEqual([]);
    expect((await signUp(url, ada.email)).id).not.toBe(ada.id);
  });
});

describe('passkeys', () => {
  test('[TH-3.13] a session that ends while one is added leaves none behind', async () => {
    const ada = await signUp(url);
    await post('/api/auth/verify', { token: await linkIn(ada.email, 'verify') });
    const device = new SoftwareAuthenticator({ origin: url, host: new URL(url).hostname });
    const { body: options } = await post('/api/passkeys/options', {}, ada);
    const response = device.create(options as never);
    const added = await during(
      (tx) => tx.query('delete from sessions where customer_id = $1', [ada.id]),
      () => post('/api/passkeys', { name: 'Left behind', response }, ada),
    );
    expect(added.body.code).toBe('passkey_not_valid');
    const { rows } = await db.database.query('select 1 from passkeys where customer_id = $1', [ada.id]);
    expect(rows).toEqual([]);
  });

  test('[TH-3.13] log in instead of the password, once per question, in the browser that asked', async () => {
    const ada = await signUp(url);
    const device = new SoftwareAuthenticator({ origin: url, host: new URL(url).hostname });
    expect((await post('/api/passkeys/options', {}, ada)).body).toMatchObject({ code: 'email_not_verified' });
    await post('/api/auth/verify', { token: await linkIn(ada.email, 'verify') });
    const { body: options } = await post('/api/passkeys/options', {}, ada);
    const added = await post(
      '/api/passkeys',
      { name: 'Phone', response: device.create(options as never) },
      ada,
    );
    expect([added.status, added.body]).toMatchObject([201, { name: 'Phone', last_used_at: null }]);
    const { token } = await makeToken(url, ada, { scopes: ['account:read', 'account:write'] });
    expect((await call(`${url}/api/passkeys`, { token })).status).toBe(403);
    const ask = async () => {
      const { body, headers } = await post('/api/passkey/options', {});
      const [cookie = ''] = headers.getSetCookie();
      expect(cookie).toMatch(/^toolhub_passkey=\w+; .*HttpOnly; SameSite=Strict$/);
      return { question: body as never, cookie: cookie.split(';', 1)[0] as string };
    };
    const answer = (response: object, cookie: string) =>
      call(`${url}/api/passkey`, { body: { response }, cookie });
    const [first, second] = [await ask(), await ask()];
    const response = device.get(first.question);
    expect((await answer(response, second.cookie)).body).toMatchObject({ code: 'passkey_refused' });
    const entered = await answer(response, first.cookie);
    expect([entered.status, entered.body]).toMatchObject([200, { customer: { id: ada.id } }]);
    expect((await answer(response, first.cookie)).status).toBe(401);
    const [cookie = ''] = entered.headers.getSetCookie();
    expect((await me({ ...ada, cookie: cookie.split(';', 1)[0] as string })).status).toBe(200);
    const { body: list } = await call<{ data: { id: string; last_used_at: string }[] }>(
      `${url}/api/passkeys`,
      { cookie: ada.cookie },
    );
    expect(list.data).toMatchObject([{ last_used_at: expect.any(String) }]);
    const suspend = (verb: string) =>
      call(`${url}/api/admin/customers/${ada.id}/${verb}`, { body: {}, token: ADMIN_TOKEN });
    await suspend('suspend');
    const suspended = await ask();
    const refused = await answer(device.get(suspended.question), suspended.cookie);
    expect([refused.status, refused.body]).toMatchObject([403, { code: 'customer_suspended' }]);
    expect(refused.headers.getSetCookie()).toEqual([]);
    await suspend('resume');
    const bob = await signUp(url);
    const remove = (account: Account) =>
      call(`${url}/api/passkeys/${list.data[0]?.id}`, { method: 'DELETE', cookie: account.cookie });
    expect([(await remove(bob)).status, (await remove(ada)).status]).toEqual([404, 204]);
    const third = await ask();
    expect((await answer(device.get(third.question), third.cookie)).status).toBe(401);
  });
});

test('[TH-3.12] only a person makes personal tokens', async () => {
  const ada = await signUp(url);
  const client = await registerClient(url);
  const { access_token: token } = await obtainTokens(url, ada, client, {
    scope: 'tools:read account:read account:write',
  });
  expect((await call(`${url}/api/me`, { token })).status).toBe(200);
  const made = await call(`${url}/api/tokens`, {
    token,
    body: { name: 'left behind', expires_in_days: 3650 },
  });
  expect(made.body).toMatchObject({ status: 403, code: 'person_required' });
});
