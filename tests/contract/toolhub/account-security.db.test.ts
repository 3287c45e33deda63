// Sessions, passkeys and personal tokens, and the end of an account.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SoftwareAuthenticator } from '../../../libs/login/test/authenticator.ts';
import { ERASED_TABLES, KEPT_TABLES } from '../../../services/toolhub/src/customers/erasure-store.ts';
import { type Account, call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { obtainTokens, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { ADMIN_TOKEN } from '../../../services/toolhub/test/instance.ts';
import { type AccountRig, createAccountRig } from './account-rig.ts';

let rig: AccountRig;
let url: string;

beforeAll(async () => {
  rig = await createAccountRig();
  url = rig.url;
});
afterAll(() => rig.close());

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
    expect((await rig.me(ada)).status).toBe(401);
    expect(await planStatuses()).toEqual([401, 401]);
    const { rows } = await rig.database.query<{
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
        if ((await rig.database.query(sql, [ada.id])).rowCount) found.push(table);
      }
      return found;
    };
    await expect.poll(tablesWithRows, { interval: 200 }).toEqual([]);
    // A call that was under way when the account was closed.
    await rig.database.query(
      `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors)
       values ($1, current_date, 'slack_list_channels', 1, 'slack', 1, 0)`,
      [ada.id],
    );
    // An account that was being connected, and a message that was being stored for it.
    await rig.database.query(
      `insert into inbound_accounts (platform, account, customer_id, claimed_at) values ('slack', 'T1/U1', $1, now())`,
      [ada.id],
    );
    await rig.database.query(
      `insert into inbound_messages
         (customer_id, platform, account, message_key, channel, sent_at, received_at, message)
       values ($1, 'slack', 'T1/U1', 'm1', 'C1', now(), now(), '{}')`,
      [ada.id],
    );
    // A bot whose address was being told.
    await rig.database.query(
      `insert into telegram_webhooks (hook_id, customer_id, bot_id, secret_hash, base_url, checked_at)
       values ('hook of a closed account', $1, 1, '', 'https://hub.example.com', now())`,
      [ada.id],
    );
    const { rows: later } = await rig.database.query(
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
    await rig.post('/api/auth/verify', { token: await rig.linkIn(ada.email, 'verify') });
    const device = new SoftwareAuthenticator({ origin: url, host: new URL(url).hostname });
    const { body: options } = await rig.post('/api/passkeys/options', { password: PASSWORD }, ada);
    const response = device.create(options as never);
    const added = await rig.during(
      (tx) => tx.query('delete from sessions where customer_id = $1', [ada.id]),
      () => rig.post('/api/passkeys', { name: 'Left behind', response }, ada),
    );
    expect(added.body.code).toBe('passkey_not_valid');
    const { rows } = await rig.database.query('select 1 from passkeys where customer_id = $1', [ada.id]);
    expect(rows).toEqual([]);
  });

  test('[TH-3.13] a session alone neither adds nor removes one: that takes the password', async () => {
    const ada = await signUp(url);
    await rig.post('/api/auth/verify', { token: await rig.linkIn(ada.email, 'verify') });
    const device = new SoftwareAuthenticator({ origin: url, host: new URL(url).hostname });
    const { body: options } = await rig.post('/api/passkeys/options', { password: PASSWORD }, ada);
    const added = await rig.post(
      '/api/passkeys',
      { name: 'x', response: device.create(options as never) },
      ada,
    );
    const remove = (body: object) =>
      call(`${url}/api/passkeys/${added.body.id}`, { method: 'DELETE', cookie: ada.cookie, body });
    const ask = (body: object) => rig.post('/api/passkeys/options', body, ada);
    for (const attempt of [remove, ask]) {
      expect((await attempt({})).body).toMatchObject({ errors: [{ pointer: '/password' }] });
      const { status, body } = await attempt({ password: 'not the password' });
      expect([status, body]).toMatchObject([403, { code: 'wrong_password' }]);
    }
    for (let failed = 2; failed < 10; failed++) await ask({ password: 'not the password' });
    expect((await remove({ password: PASSWORD })).body).toMatchObject({ code: 'too_many_logins' });
  });

  test('[TH-3.13] log in instead of the password, once per question, in the browser that asked', async () => {
    const ada = await signUp(url);
    const device = new SoftwareAuthenticator({ origin: url, host: new URL(url).hostname });
    expect((await rig.post('/api/passkeys/options', { password: PASSWORD }, ada)).body).toMatchObject({
      code: 'email_not_verified',
    });
    await rig.post('/api/auth/verify', { token: await rig.linkIn(ada.email, 'verify') });
    const { body: options } = await rig.post('/api/passkeys/options', { password: PASSWORD }, ada);
    const added = await rig.post(
      '/api/passkeys',
      { name: 'Phone', response: device.create(options as never) },
      ada,
    );
    expect([added.status, added.body]).toMatchObject([201, { name: 'Phone', last_used_at: null }]);
    const { token } = await makeToken(url, ada, { scopes: ['account:read', 'account:write'] });
    expect((await call(`${url}/api/passkeys`, { token })).status).toBe(403);
    const ask = async () => {
      const { body, headers } = await rig.post('/api/passkey/options', {});
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
    expect((await rig.me({ ...ada, cookie: cookie.split(';', 1)[0] as string })).status).toBe(200);
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
      call(`${url}/api/passkeys/${list.data[0]?.id}`, {
        ...{ method: 'DELETE', cookie: account.cookie, body: { password: PASSWORD } },
      });
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
