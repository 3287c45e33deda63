// Getting back in by a mail, changing a password, and what either ends.
import { withinASecond } from '@libs/runtime/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, call, makeToken, PASSWORD, signUp } from '../../../services/toolhub/test/accounts.ts';
import { obtainTokens, postForm, registerClient } from '../../../services/toolhub/test/authorization.ts';
import { type AccountRig, createAccountRig } from './account-rig.ts';

let rig: AccountRig;
let url: string;

beforeAll(async () => {
  rig = await createAccountRig();
  url = rig.url;
});
afterAll(() => rig.close());

describe('a password', () => {
  test('[TH-3.9] is reset by the link of a mail: once, and all sessions end', async () => {
    const ada = await signUp(url);
    for (const email of [ada.email, 'nobody@example.com', 'no address'])
      expect(await rig.post('/api/auth/forgot', { email })).toMatchObject({ status: 202, body: {} });
    const token = await rig.linkIn(ada.email, 'reset');
    const password = 'a whole new password';
    expect((await rig.post('/api/auth/reset', { token, password: 'short' })).status).toBe(422);
    expect((await rig.post('/api/auth/reset', { token, password })).status).toBe(204);
    expect((await rig.me(ada)).status).toBe(401);
    expect((await rig.post('/api/auth/reset', { token, password })).status).toBe(422);
    expect((await rig.post('/api/auth/login', { email: ada.email, password: PASSWORD })).status).toBe(401);
    expect((await rig.post('/api/auth/login', { email: ada.email, password })).status).toBe(200);
  });

  test('[TH-3.9] links work for an hour to reset it, for a day to verify the address, and not a moment longer', async () => {
    const ada = await signUp(url);
    const verify = await rig.linkIn(ada.email, 'verify');
    await rig.post('/api/auth/forgot', { email: ada.email });
    const reset = await rig.linkIn(ada.email, 'reset');
    const { rows } = await rig.database.query(
      `select kind, extract(epoch from expires_at - created_at)::int / 3600 as hours from mail_tokens
       where customer_id = $1 order by kind`,
      [ada.id],
    );
    expect(rows).toEqual([
      { kind: 'reset', hours: 1 },
      { kind: 'verify', hours: 24 },
    ]);
    const crossed = [
      await rig.post('/api/auth/verify', { token: reset }),
      await rig.post('/api/auth/reset', { token: verify, password: 'by the wrong link' }),
    ];
    expect(crossed.map(({ body }) => body.code)).toEqual(['link_not_valid', 'link_not_valid']);
    const ago = (ms: number) => new Date(Date.now() - ms);
    await rig.database.query(
      'update mail_tokens set created_at = $2, expires_at = $3 where customer_id = $1',
      [ada.id, ago(2 * 24 * 60 * 60_000), ago(1_000)],
    );
    const late = [
      await rig.post('/api/auth/verify', { token: verify }),
      await rig.post('/api/auth/reset', { token: reset, password: 'a password too late' }),
    ];
    expect(late.map(({ body }) => body.code)).toEqual(['link_not_valid', 'link_not_valid']);
  });

  test('[TH-3.9] that is changed, or reset by another link, ends the links to reset it', async () => {
    const ada = await signUp(url);
    const forget = (count: number) =>
      rig.post('/api/auth/forgot', { email: ada.email }).then(() => rig.linkIn(ada.email, 'reset', count));
    const password = 'another horse battery';
    const isOver = async (token: string) =>
      (await rig.post('/api/auth/reset', { token, password: PASSWORD })).body.code === 'link_not_valid';
    const first = await forget(1);
    expect((await rig.post('/api/auth/password', { current: PASSWORD, new: password }, ada)).status).toBe(
      204,
    );
    expect(await isOver(first)).toBe(true);
    const [second, third] = [await forget(2), await forget(3)];
    expect((await rig.post('/api/auth/reset', { token: third, password })).status).toBe(204);
    expect([await isOver(second), await isOver(third)]).toEqual([true, true]);
    expect((await rig.post('/api/auth/login', { email: ada.email, password })).status).toBe(200);
  });

  test('[TH-3.9] that is set anew is followed by no session, no other password and no end of the account by who knew the old one', async () => {
    const [ada, other] = [await signUp(url), await signUp(url)];
    const { rows: others } = await rig.database.query<{ password_hash: string }>(
      'select password_hash from customers where id = $1',
      [other.id],
    );
    const change = 'update customers set password_hash = $2 where id = $1';
    const acts: [() => Promise<Answer>, number][] = [
      [() => rig.post('/api/auth/login', { email: ada.email, password: PASSWORD }), 401],
      [() => rig.post('/api/auth/password', { current: PASSWORD, new: 'of who was thrown out' }, ada), 403],
      [
        () => call(`${url}/api/me`, { method: 'DELETE', cookie: ada.cookie, body: { password: PASSWORD } }),
        403,
      ],
    ];
    const { rows: own } = await rig.database.query<{ password_hash: string }>(
      'select password_hash from customers where id = $1',
      [ada.id],
    );
    for (const [act, status] of acts) {
      await rig.database.query(change, [ada.id, own[0]?.password_hash]);
      const answer = await rig.during((tx) => tx.query(change, [ada.id, others[0]?.password_hash]), act);
      expect(answer.status).toBe(status);
    }
    const { rows: kept } = await rig.database.query('select password_hash from customers where id = $1', [
      ada.id,
    ]);
    expect(kept).toEqual(others);
  });

  test('[TH-3.9] reset by the owner of an address leaves nothing to whoever signed up with it before', async () => {
    const squatter = await signUp(url);
    const { token: left } = await makeToken(url, squatter);
    const client = await registerClient(url);
    const tokens = await obtainTokens(url, squatter, client);
    await rig.post('/api/webhooks/config', { webhook_url: 'https://example.com/ear' }, squatter);
    await call(`${url}/api/credentials/telegram?verify=false`, {
      ...{ method: 'PUT', cookie: squatter.cookie, body: { bot_token: '4242:of-the-squatter' } },
    });
    await rig.post('/api/auth/forgot', { email: squatter.email });
    const password = 'the owner has come';
    const token = await rig.linkIn(squatter.email, 'reset');
    const told = async (email: string) => (await rig.mailsTo(email)).at(-1)?.text;
    expect(await told(squatter.email)).toMatch(/removes what was made before:\ntokens, connected assistants/);
    expect((await rig.post('/api/auth/reset', { token, password })).status).toBe(204);
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
    const login = await rig.post('/api/auth/login', { email: squatter.email, password });
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
    await rig.post('/api/auth/verify', { token: await rig.linkIn(ada.email, 'verify') });
    const { token: kept } = await makeToken(url, ada);
    await rig.post('/api/auth/forgot', { email: ada.email });
    const token = await rig.linkIn(ada.email, 'reset');
    expect((await rig.mailsTo(ada.email)).at(-1)?.text).not.toMatch(/removes/);
    expect((await rig.post('/api/auth/reset', { token, password: 'another password' })).status).toBe(204);
    expect((await call(`${url}/api/me`, { token: kept })).status).toBe(200);
  });

  test('[TH-3.9] is changed by who knows it, and other sessions end', async () => {
    const ada = await signUp(url);
    const other = await call(`${url}/api/auth/login`, { body: { email: ada.email, password: PASSWORD } });
    const otherCookie = (other.headers.getSetCookie()[0] ?? '').split(';', 1)[0] as string;
    const change = (current: string) =>
      rig.post('/api/auth/password', { current, new: 'another password' }, ada);
    expect((await change('wrong password')).body).toMatchObject({ status: 403, code: 'wrong_password' });
    expect((await change(PASSWORD)).status).toBe(204);
    expect((await rig.me(ada)).status).toBe(200);
    expect((await call(`${url}/api/me`, { cookie: otherCookie })).status).toBe(401);
    const { token } = await makeToken(url, ada, { scopes: ['account:read', 'account:write'] });
    const byToken = await call(`${url}/api/auth/password`, {
      token,
      body: { current: 'x', new: 'another password' },
    });
    expect(byToken.body).toMatchObject({ status: 403, code: 'person_required' });
  });
});
